import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose';
import { HttpExchange } from '../http-exchange.js';
import { PartnerClient, type PartnerPayment, SvcApiError } from '../index.js';

interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test checks the fields that it needs
  readonly body: any;
}
type FakeResponse = { status?: number; headers?: Record<string, string>; body?: unknown };

const ORGANISATION = '5b1f0c5e-6f4c-4d0f-9a53-0a3c4f8f9d11';
const CUSTOMER = '0b0b8a3a-0b43-4a4e-8d5a-6a1f0c5e6f4c';
const LOGGED_IN = { id: CUSTOMER, firstName: 'Thandi', lastName: 'Nkosi' };
const customer = { id: 'customer-1' };
const card = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
const payment: PartnerPayment = {
  reference: 'r-1',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  merchantName: 'Karoo Books',
  currencyISOCode: 'ZAR',
  invoicedAmount: 12345,
  tipAmount: 0,
  processedAmount: 12345,
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  paymentMethodType: 'Card',
  paymentMethodDescription: '**** 4242',
  status: 'success',
  customer: { id: CUSTOMER, firstName: '', lastName: '' },
  siteReference: 'TILL-1',
  errors: [],
};

let server: Server;
let calls: Call[];
let routes: Record<string, (call: Call) => FakeResponse>;
let time: number;
let logins: number;
let privateKey: CryptoKey;

beforeEach(async () => {
  calls = [];
  [time, logins] = [Date.parse('2026-11-20T18:00:00.000Z'), 0];
  const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  privateKey = pair.privateKey;
  const publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'key-1' };
  routes = {
    'POST /v1/auth/service/login': () => ({ body: { identityToken: `service-${++logins}`, expiresIn: 900 } }),
    'POST /v1/auth/customers/login': ({ body }) => ({
      body: { identityToken: `customer-${body.email}`, expiresIn: 900, customer: LOGGED_IN },
    }),
    'GET /v1/cards/encryption-key': () => ({ body: publicJwk }),
    'POST /v1/payments': () => ({ status: 201, body: { ...payment, errors: null } }),
  };
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const call = { method, url, headers, body: text === '' ? undefined : JSON.parse(text) };
      calls.push(call);
      const {
        status = 200,
        headers: responseHeaders = {},
        body,
      } = routes[`${method} ${url.split('?')[0]}`]?.(call) ?? { status: 404 };
      response.writeHead(status, {
        'x-request-id': 'req-77',
        'content-type': 'application/json; charset=utf-8',
        date: new Date(time).toUTCString(),
        ...responseHeaders,
      });
      response.end(body === undefined ? '' : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const createClient = (): PartnerClient =>
  new PartnerClient({
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    apiKey: 'svc_test_partner_x',
    organisationId: ORGANISATION,
    apiToken: 'token',
    monotonicNow: () => time,
    wait: async () => undefined,
  });
const callsTo = (route: string): Call[] =>
  calls.filter(({ method, url }) => `${method} ${url.split('?')[0]}` === route);
async function decryptCard(jwe: string): Promise<unknown> {
  const { plaintext } = await compactDecrypt(jwe, privateKey);
  return JSON.parse(new TextDecoder().decode(plaintext));
}

it.each([
  ['https://api.example', 'https://api.example/v1/auth/service/login'],
  ['http://127.0.0.1:7301/', 'http://127.0.0.1:7301/v1/auth/service/login'],
  ['https://example.com/edge/main//', 'https://example.com/edge/main/v1/auth/service/login'],
])('the client appends its paths to the base URL %s', async (apiUrl, url) => {
  const fetch = jest.fn(() => Promise.resolve(new Response(null, { status: 400 })));
  const partner = new PartnerClient({ apiUrl, apiKey: 'k', organisationId: 'O', apiToken: 't', fetch });
  await expect(partner.service.deleteCard('c')).rejects.toMatchObject({ httpStatus: 400 });
  expect(fetch).toHaveBeenCalledWith(url, expect.anything());
});

it.each([
  [{}, 30_000],
  [{ timeoutMs: 5_000 }, 5_000],
])('with the options %j, an attempt times out after %d ms', async (options, milliseconds) => {
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  const fetch = () => Promise.resolve(new Response(null, { status: 400 }));
  const required = { apiUrl: 'https://api.example', apiKey: 'k', organisationId: 'o', apiToken: 't' };
  await expect(new PartnerClient({ ...required, fetch, ...options }).service.deleteCard('c')).rejects.toMatchObject({
    httpStatus: 400,
  });
  expect(timeout.mock.calls).toEqual([[milliseconds]]);
  timeout.mockRestore();
});

it('a customer logs in with email and password, after the service has logged in', async () => {
  const customer = createClient().asCustomer({ email: 'a@b.example', password: 'p' });
  await expect(customer.deleteCard('c')).rejects.toMatchObject({ httpStatus: 404 });
  const headers = { accept: 'application/json', 'content-type': 'application/json', 'x-api-key': 'svc_test_partner_x' };
  const [service, login] = calls;
  expect(service).toMatchObject({ headers, body: { organisationId: ORGANISATION, apiToken: 'token' } });
  expect(service!.headers).not.toHaveProperty('authorization');
  expect(login).toMatchObject({
    headers: { ...headers, authorization: 'Bearer service-1' },
    body: { email: 'a@b.example', password: 'p' },
  });
});

it('a card is bound to the organisationId in lower case', async () => {
  const upperCaseOptions = { apiKey: 'k', organisationId: ORGANISATION.toUpperCase(), apiToken: 't' };
  const api = new PartnerClient({
    ...upperCaseOptions,
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  await api.service.pay({ reference: 'r-1', amount: 1, card, customer });
  const [{ body }] = callsTo('POST /v1/payments') as [Call];
  const { binding } = (await decryptCard(body.paymentMethod.card.encryptedCard)) as { binding: Record<string, string> };
  expect(binding['sessionId']).toBe(`${ORGANISATION}.r-1`);
});

it.each([
  ['11 minutes slow', -660_000],
  ['two hours fast', 7_200_000],
  ['in 1970', -Date.parse('2026-11-20T18:00:00Z')],
])(
  'a card expires ten minutes later by the clock of the API, even if the clock of the computer is %s',
  async (_, error) => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(time + error);
    const client = createClient();
    await client.service.pay({ reference: 'r-1', amount: 1, card, customer });
    // The clock of the computer jumps between two payments.
    clock.mockReturnValue(time - 2 * error);
    time += 30_000;
    await client.service.pay({ reference: 'r-2', amount: 1, card, customer });
    clock.mockRestore();
    const bindings = await Promise.all(
      callsTo('POST /v1/payments').map(({ body }) => decryptCard(body.paymentMethod.card.encryptedCard)),
    );
    expect(bindings).toMatchObject([
      { binding: { expiresAt: '2026-11-20T18:10:00.000Z' } },
      { binding: { expiresAt: '2026-11-20T18:10:30.000Z' } },
    ]);
  },
);

const DATE = 'Fri, 20 Nov 2026 18:00:00 GMT';

it.each([
  ['JSON', { date: DATE, 'content-type': 'application/json; charset=utf-8' }],
  ['a problem', { date: DATE, 'content-type': 'application/problem+json' }],
  ['an event stream', { date: DATE, 'content-type': 'text/event-stream' }],
])('the time of the API is the Date of a response with %s', async (_, headers) => {
  const http = new HttpExchange({ fetch: async () => new Response(null, { headers }), monotonicNow: () => 0 });
  await http.sendOnce({ method: 'GET', url: 'https://api.example', headers: {} });
  expect(http.apiTime()).toBe(Date.parse(DATE));
});

it.each([
  ['without a time', { date: 'today', 'content-type': 'application/json' }],
  ['of a cache', { date: DATE, 'content-type': 'application/json', age: '0' }],
  ['with a page of a proxy', { date: DATE, 'content-type': 'text/html' }],
  ['with another type', { date: DATE, 'content-type': 'application/jsonp' }],
  ['without a type', { date: DATE }],
])('a card expires by the clock of the computer after a response %s', async (_, headers) => {
  const http = new HttpExchange({ fetch: async () => new Response(null, { headers: new Headers(headers) }) });
  const clock = jest.spyOn(Date, 'now').mockReturnValue(17);
  expect(http.apiTime()).toBe(17);
  await http.sendOnce({ method: 'GET', url: 'https://api.example', headers: {} });
  expect(http.apiTime()).toBe(17);
  clock.mockRestore();
});

it.each([
  [{ expiresIn: 900 }, 'identityToken'],
  [{ identityToken: 't' }, 'expiresIn'],
  [{ identityToken: 't', expiresIn: 0 }, 'expiresIn'],
  [{ identityToken: 't', expiresIn: '900' }, 'expiresIn'],
  [[], 'body'],
])('the client refuses the login response %j', async (body, field) => {
  routes['POST /v1/auth/service/login'] = () => ({ body });
  await expect(createClient().service.deleteCard('c')).rejects.toThrow(`${field} is missing or malformed`);
});

it.each([
  [{ identityToken: 't', expiresIn: 900 }, 'customer'],
  [{ identityToken: 't', expiresIn: 900, customer: {} }, 'id'],
])('the client refuses the customer login response %j', async (body, field) => {
  routes['POST /v1/auth/customers/login'] = () => ({ body });
  const customer = createClient().asCustomer({ email: 'a@b.example', password: 'p' });
  await expect(customer.deleteCard('c')).rejects.toThrow(`${field} is missing or malformed`);
});

it('pay() encrypts the card in this process, bound to the payer and the payment', async () => {
  expect(await createClient().service.pay({ reference: 'r-1', code: 'köd/1', amount: 12345, card, customer })).toEqual(
    payment,
  );
  const [{ body, headers }] = callsTo('POST /v1/payments') as [Call];
  expect(headers).toMatchObject({ 'x-api-key': 'svc_test_partner_x', authorization: 'Bearer service-1' });
  expect(body).toEqual({
    reference: 'r-1',
    code: Buffer.from('köd/1').toString('base64'),
    amount: 12345,
    customer,
    paymentMethod: { card: { encryptedCard: expect.any(String) } },
  });
  expect(JSON.stringify(calls)).not.toContain(card.cardNumber);
  expect(await decryptCard(body.paymentMethod.card.encryptedCard)).toEqual({
    card,
    binding: { sessionId: `${ORGANISATION}.r-1`, paymentNumber: 1, expiresAt: '2026-11-20T18:10:00.000Z' },
  });
});

it('pay() creates a reference if the caller sends none, and retries with the same reference', async () => {
  let failures = 1;
  routes['POST /v1/payments'] = () => (failures-- > 0 ? { status: 503 } : { status: 200, body: payment });
  await createClient().service.pay({ invoiceReference: 'i-1', amount: 1, cardToken: 'card_1', customer });
  const [first, second] = callsTo('POST /v1/payments');
  expect(first!.body.reference).toMatch(/^[0-9a-f-]{36}$/);
  expect(second!.body).toEqual(first!.body);
  expect(first!.body.paymentMethod).toEqual({ card: { token: 'card_1' } });
});

it('pay() throws an error with the reason if the payment is refused, but returns a declined payment', async () => {
  routes['POST /v1/payments'] = () => ({
    status: 422,
    body: { code: 'payable.mismatch', errors: [{ errorReference: '22', message: 'Not the amount.', field: 'amount' }] },
  });
  const refused: unknown = await createClient()
    .service.pay({ invoiceReference: 'i-1', amount: 1, cardToken: 'c', customer })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SvcApiError);
  expect(refused).toMatchObject({
    httpStatus: 422,
    code: 'payable.mismatch',
    errors: [{ errorReference: '22', message: 'Not the amount.', field: 'amount' }],
    requestId: 'req-77',
    retryable: false,
  });
  const errors = [{ errorReference: '10', message: 'Declined.' }];
  routes['POST /v1/payments'] = () => ({ status: 201, body: { ...payment, status: 'failed', errors } });
  const failed = await createClient().service.pay({ invoiceReference: 'i-1', amount: 1, cardToken: 'c', customer });
  expect(failed).toMatchObject({ status: 'failed', errors });
});

it('the client logs in once for many calls, and again before the token expires or if it is refused', async () => {
  const { service } = createClient();
  const pay = () => service.pay({ invoiceReference: 'i-1', amount: 1, cardToken: 'c', customer });
  await Promise.all([pay(), pay(), pay()]);
  // The token is valid for 900 s, and is renewed 60 s before it expires.
  time += 839_000;
  await pay();
  expect(logins).toBe(1);
  time += 1_000;
  await pay();
  expect(logins).toBe(2);
  routes['POST /v1/payments'] = ({ headers }) =>
    headers.authorization === 'Bearer service-2' ? { status: 401 } : { status: 201, body: payment };
  await pay();
  expect(logins).toBe(3);
  routes['POST /v1/payments'] = () => ({ status: 401 });
  await expect(pay()).rejects.toMatchObject({ httpStatus: 401, status: 'Unauthorized' });
});

it('the client logs in again at the next call after a failed login', async () => {
  const logIn = routes['POST /v1/auth/service/login']!;
  routes['POST /v1/auth/service/login'] = () => ({ status: 401 });
  const { service } = createClient();
  await expect(service.deleteCard('c')).rejects.toMatchObject({ httpStatus: 401 });
  routes['POST /v1/auth/service/login'] = logIn;
  await service.pay({ invoiceReference: 'i-1', amount: 1, cardToken: 'c', customer });
});

it('a customer stores a card without its CVV, bound to the customer, and deletes it', async () => {
  const stored = { token: 'card_1', cardMask: '**** 4242', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
  routes['POST /v1/cards'] = () => ({ status: 201, body: { ...stored, brand: 'visa' } });
  routes['DELETE /v1/cards/card_1'] = () => ({ status: 204 });
  const customer = createClient().asCustomer({ email: 'a@b.example', password: 'p' });
  expect(await customer.storeCard(card)).toEqual({ ...stored, brand: 'visa' });
  const [{ body, headers }] = callsTo('POST /v1/cards') as [Call];
  expect(headers.authorization).toBe('Bearer customer-a@b.example');
  const { cvv: _, ...withoutCvv } = card;
  expect(await decryptCard(body.encryptedCard)).toMatchObject({ card: withoutCvv, binding: { sessionId: CUSTOMER } });
  await customer.deleteCard('card_1');
  expect(callsTo('DELETE /v1/cards/card_1')).toHaveLength(1);
  await expect(customer.deleteCard('other')).rejects.toMatchObject({ httpStatus: 404 });
});

it.each([
  ['expiryMonth', { expiryMonth: 13 }],
  ['expiryYear', { expiryYear: 10_000 }],
  ['expiryYear', { expiryYear: '2030' }],
])('storeCard() refuses a response with an invalid %s', async (field, change) => {
  const stored = { token: 'card_1', cardMask: '**** 4242', holderName: 'T', expiryMonth: 12, expiryYear: 2030 };
  routes['POST /v1/cards'] = () => ({ status: 201, body: { ...stored, brand: 'visa', ...change } });
  await expect(createClient().service.storeCard(card)).rejects.toMatchObject({
    status: 'InternalServer',
    errors: [{ message: expect.stringContaining(field) as string }],
  });
});

it.each([
  ['processedAmount', 200_000_000_001],
  ['invoicedAmount', 100_000_000_001],
  ['tipAmount', -1],
])('pay() refuses a response whose %s is %d', async (field, cents) => {
  routes['POST /v1/payments'] = () => ({ status: 201, body: { ...payment, [field]: cents } });
  const result = createClient().service.pay({ invoiceReference: 'i-1', amount: 1, cardToken: 'c', customer });
  await expect(result).rejects.toMatchObject({ errors: [{ message: expect.stringContaining(field) as string }] });
});

it('history() requests page after page, only as far as the caller iterates', async () => {
  const pages: Record<string, FakeResponse> = {
    '/v1/payments?page=1&pageSize=2': {
      body: {
        payments: [payment, { ...payment, errors: null, paymentReference: 'B' }],
        nextPage: '/v1/payments?page=2&pageSize=2',
      },
    },
    '/v1/payments?page=2&pageSize=2': { body: { payments: [{ ...payment, paymentReference: 'C' }] } },
  };
  routes['GET /v1/payments'] = ({ url }) => pages[url] ?? { status: 204 };
  const { service } = createClient();
  const all: string[] = [];
  for await (const { paymentReference } of service.history({ pageSize: 2 })) all.push(paymentReference);
  expect(all).toEqual([payment.paymentReference, 'B', 'C']);
  for await (const { paymentReference } of service.history({ pageSize: 2 })) {
    expect(paymentReference).toBe(payment.paymentReference);
    break;
  }
  expect(callsTo('GET /v1/payments')).toHaveLength(3);
  expect(await service.history({ customerReference: CUSTOMER }).next()).toMatchObject({ done: true });
});

it.each(['https://evil.example/v1/payments?page=2', '//evil.example', 7])(
  'history() does not follow a page link to %j',
  async (nextPage) => {
    routes['GET /v1/payments'] = () => ({ body: { payments: [], nextPage } });
    await expect(createClient().service.history().next()).rejects.toThrow('nextPage');
  },
);

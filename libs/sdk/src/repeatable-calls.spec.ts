import { exportJWK, generateKeyPair } from 'jose';
import { type CreateSessionRequest, HostedGatewayClient, MerchantClient, PartnerClient } from './index.js';

const MERCHANT_PATH = '/business/api/v1/merchants/1';
const SITE_PATH = `${MERCHANT_PATH}/sites/2`;
const INVOICE = {
  siteReference: 'T',
  currencyISOCode: 'ZAR',
  amount: 1,
  origin: 'o',
  createdUTCDate: '2026-11-20T18:03:36Z',
} as const;

/** Each call of the SDK, and whether the SDK may send the request again if the result is unknown. */
const CALLS: readonly [name: string, isRepeatable: boolean, route: string, call: () => Promise<unknown>][] = [
  [
    'createSession',
    true,
    'POST /api/v3.1/sessions',
    () => gateway().createSession({ requestId: 'r' } as CreateSessionRequest),
  ],
  ['listPayments', true, 'GET /api/v3.1/payments', () => gateway().listPayments('s-1')],
  ['getPayment', true, 'GET /api/v3.1/payments/P', () => gateway().getPayment('P')],
  ['listNotifications', true, 'GET /api/v3.1/notifications', () => gateway().listNotifications()],
  ['cancelSession', false, 'DELETE /api/v3.1/sessions/s-1', () => gateway().cancelSession('s-1')],
  ['a login', true, 'POST /v1/auth/service/login', () => partner().service.deleteCard('c')],
  ["a customer's login", true, 'POST /v1/auth/customers/login', () => customer().deleteCard('c')],
  ['logInCustomer', true, 'POST /v1/auth/customers/login', () => partner().logInCustomer(CREDENTIALS)],
  // A repeat is refused, because the email is already used.
  ['createUser', false, 'POST /v1/auth/users', () => partner().service.createUser(CREDENTIALS)],
  ['registerCustomer', true, 'POST /v1/auth/customers/register', () => partner().service.registerCustomer('u')],
  ["a partner's payment", true, 'GET /v1/payments/P', () => partner().service.payment('P')],
  ['the encryption key', true, 'GET /v1/cards/encryption-key', () => partner().service.storeCard(CARD)],
  // The API charges only once for repeated requests, because the reference is the idempotency key (C7).
  ['pay', true, 'POST /v1/payments', () => partner().service.pay({ amount: 1, cardToken: 'c', customer: { id: 'c' } })],
  ['decode', true, 'GET /v1/codes/eA', () => partner().service.decode('x')],
  ['history', true, 'GET /v1/payments', () => partner().service.history().next()],
  // Each request stores another card.
  ['storeCard', false, 'POST /v1/cards', () => partner().service.storeCard(CARD)],
  ['deleteCard', false, 'DELETE /v1/cards/c', () => partner().service.deleteCard('c')],
  ['paymentsOfInvoice', true, `GET ${MERCHANT_PATH}/invoices/i/payments`, () => merchant().paymentsOfInvoice('i')],
  [
    'paymentsOfExternalReference',
    true,
    `GET ${MERCHANT_PATH}/payments`,
    () => merchant().paymentsOfExternalReference('x'),
  ],
  ['searchPayments', true, `GET ${MERCHANT_PATH}/payment-search`, () => merchant().searchPayments('x').next()],
  ['payment', true, `GET ${MERCHANT_PATH}/payments/P`, () => merchant().payment('P')],
  ['refund', true, `POST ${MERCHANT_PATH}/refunds`, () => merchant().refund('P', { idempotencyKey: 'r', amount: 1 })],
  ['disputes', true, `GET ${MERCHANT_PATH}/disputes`, () => merchant().disputes('P')],
  // The Idempotency-Key is the same in each attempt of one call (C7).
  ['createInvoice', true, `POST ${SITE_PATH}/invoices`, () => site().createInvoice(INVOICE)],
  ['invoice', true, `GET ${SITE_PATH}/invoices/i`, () => site().invoice('i')],
  ['invoiceQrCode', true, `GET ${SITE_PATH}/invoices/i`, () => site().invoiceQrCode('i')],
  ['closeInvoice', false, `DELETE ${SITE_PATH}/invoices`, () => site().closeInvoice('x')],
  ['tillCode', true, `PUT ${SITE_PATH}/tills/T/code`, () => site().tillCode('T')],
  ['tillQrCode', true, `GET ${SITE_PATH}/tills/T/code`, () => site().tillQrCode('T')],
  // The limit of four attempts applies only until the first connection. After that, the stream always reconnects.
  ['stream', true, `GET ${SITE_PATH}/payments/stream`, () => site().stream().next()],
];
const CREDENTIALS = { email: 'a@b.example', password: 'password' };
const CARD = { cardNumber: '4242424242424242', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };

type Failure = number | 'conflict while an equal request runs' | 'connection lost';
const TEMPORARY_FAILURES: readonly Failure[] = [
  429,
  502,
  503,
  504,
  'conflict while an equal request runs',
  'connection lost',
];
const PERMANENT_FAILURES: readonly Failure[] = [400, 403, 404, 409, 422, 500, 501];

let requests: { route: string; body: unknown; authorization: string | null; idempotencyKey: string | null }[];
let failing: { route: string; failure: Failure };
let publicJwk: object;
beforeAll(async () => {
  publicJwk = { ...(await exportJWK((await generateKeyPair('ECDH-ES', { crv: 'P-256' })).publicKey)), kid: 'key-1' };
});
beforeEach(() => void (requests = []));

/** Responds to logins and to requests of the encryption key. The route under test fails. */
async function fakeFetch(url: unknown, init: RequestInit = {}): Promise<Response> {
  const route = `${init.method} ${new URL(url as string).pathname}`;
  const headers = new Headers(init.headers);
  requests.push({
    route,
    body: init.body,
    authorization: headers.get('authorization'),
    idempotencyKey: headers.get('idempotency-key'),
  });
  if (route === failing.route) {
    if (failing.failure === 'connection lost') throw new TypeError('fetch failed');
    if (typeof failing.failure === 'number') return Response.json({}, { status: failing.failure });
    return Response.json({}, { status: 409, headers: { 'retry-after': '1' } });
  }
  if (route.endsWith('login'))
    return Response.json({ identityToken: 't', expiresIn: 900, customer: { id: 'c', firstName: '', lastName: '' } });
  return Response.json(publicJwk);
}

const options = { fetch: fakeFetch as typeof fetch, wait: async () => undefined, monotonicNow: () => 0 };
const gateway = () =>
  new HostedGatewayClient({ ...options, gatewayUrl: 'https://pay.example', merchantId: 1, siteId: 2 });
const partner = () =>
  new PartnerClient({ ...options, apiUrl: 'https://api.example', apiKey: 'k', organisationId: 'o', apiToken: 'a' });
const merchant = () => new MerchantClient({ ...options, apiUrl: 'https://api.example', merchantId: 1, apiKey: 'k' });
const site = () => merchant().site(2);
const customer = () => partner().asCustomer(CREDENTIALS);
const requestsTo = (route: string) => requests.filter((request) => request.route === route);

describe.each(CALLS)('the request of %s (idempotent: %s)', (_, isRepeatable, route, call) => {
  it.each(TEMPORARY_FAILURES)(
    'is sent four times if it is idempotent, and otherwise once, after the failure %s',
    async (failure) => {
      failing = { route, failure };
      await expect(call()).rejects.toMatchObject({ retryable: true });
      expect(requestsTo(route)).toHaveLength(isRepeatable ? 4 : 1);
      expect(new Set(requestsTo(route).map(({ body }) => body)).size).toBe(1);
      expect(new Set(requestsTo(route).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    },
  );

  it.each(PERMANENT_FAILURES)('is sent once if the response is %s', async (failure) => {
    failing = { route, failure };
    await expect(call()).rejects.toMatchObject({ retryable: false });
    expect(requestsTo(route)).toHaveLength(1);
  });
});

test('a call whose token was refused is sent once more with a new token, even if it is not idempotent', async () => {
  // The calls of the partner API, except for the logins.
  for (const [, , route, call] of CALLS.filter(([, , path]) => / \/v1\/(?!auth)/.test(path))) {
    failing = { route, failure: 401 };
    requests = [];
    await expect(call()).rejects.toMatchObject({ httpStatus: 401 });
    expect(requestsTo(route)).toHaveLength(2);
    expect(requestsTo('POST /v1/auth/service/login')).toHaveLength(2);
  }
});

/**
 * The field or header by which the platform recognises the repeat of a POST. A repeated login or registration is
 * harmless.
 */
const IDEMPOTENCY_KEYS: Readonly<Record<string, 'requestId' | 'reference' | 'idempotency-key' | undefined>> = {
  createSession: 'requestId',
  'a login': undefined,
  "a customer's login": undefined,
  logInCustomer: undefined,
  registerCustomer: undefined,
  pay: 'reference',
  refund: 'idempotency-key',
  createInvoice: 'idempotency-key',
};

test('each POST that is repeated has a key by which the platform recognises the repeat', async () => {
  const repeatedPosts = CALLS.filter(([, isRepeatable, route]) => isRepeatable && route.startsWith('POST'));
  expect(repeatedPosts.map(([name]) => name).toSorted()).toEqual(Object.keys(IDEMPOTENCY_KEYS).toSorted());
  const withKey = repeatedPosts.filter(([name]) => IDEMPOTENCY_KEYS[name] !== undefined);
  for (const [name, , route, call] of withKey) {
    failing = { route, failure: 503 };
    requests = [];
    await expect(call()).rejects.toMatchObject({ httpStatus: 503 });
    const [{ body, idempotencyKey }] = requestsTo(route) as [(typeof requests)[number]];
    const keys: Record<string, unknown> = {
      ...(JSON.parse(String(body)) as Record<string, unknown>),
      'idempotency-key': idempotencyKey,
    };
    expect([name, keys[IDEMPOTENCY_KEYS[name]!]]).toEqual([name, expect.stringMatching(/^.{1,100}$/)]);
  }
});

test('each call of createInvoice has an Idempotency-Key of its own, unless the caller sets it', async () => {
  failing = { route: `POST ${SITE_PATH}/invoices`, failure: 400 };
  for (const options of [undefined, {}, { idempotencyKey: 'sale-1' }])
    await expect(site().createInvoice(INVOICE, options)).rejects.toMatchObject({ httpStatus: 400 });
  const [first, second, third] = requests.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set([first, second, third]).size).toBe(3);
  expect([first, third]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 'sale-1']);
});

test('a request to replace an invoice that is being paid is sent once', async () => {
  const response = { status: 409, headers: { 'retry-after': '2' } };
  let attempts = 0;
  const fetch = async (): Promise<Response> => (attempts++, Response.json({ code: 'payment.in-progress' }, response));
  const client = new MerchantClient({ ...options, fetch, apiUrl: 'https://api.example', merchantId: 1, apiKey: 'k' });
  await expect(client.site(2).createInvoice({ ...INVOICE, externalReference: 'x' })).rejects.toMatchObject({
    code: 'payment.in-progress',
    retryable: true,
    retryAfterSeconds: 2,
  });
  expect(attempts).toBe(1);
});

test('a request to the gateway or the business API is sent once if the key is refused', async () => {
  for (const [, , route, call] of CALLS.filter(([, , path]) => /\/api\//.test(path))) {
    failing = { route, failure: 401 };
    requests = [];
    await expect(call()).rejects.toMatchObject({ httpStatus: 401 });
    expect(requests).toHaveLength(1);
  }
});

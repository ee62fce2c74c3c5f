import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MerchantClient, type PaymentNotice } from '../index.js';

const payment = {
  invoiceReference: 'i-1',
  invoiceExternalReference: 'ORDER-1',
  currencyISOCode: 'ZAR',
  invoicedAmount: 12_345,
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  tipAmount: 500,
  tenderedAmount: 12_845,
  siteReference: 'TILL-1',
  status: 1,
  vouchers: [{ merchantLiable: true, amount: 100 }],
  customer: { firstName: 'Thandi', lastName: 'Nkosi' },
  siteId: 2,
};
const read = { ...payment, status: 'Success' };
const invoice = {
  reference: 'i-1',
  siteReference: 'TILL-1',
  currencyISOCode: 'ZAR',
  amount: 12_345,
  state: 'open',
  code: 'https://pay.example/c/1',
  createdUTCDate: '2026-11-20T18:03:36.123Z',
  expiresUTCDate: '2026-11-20T18:33:36.123Z',
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let answers: Handler[];
let requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
let pauses: number[];

beforeEach(async () => {
  [answers, requests, pauses] = [[], [], []];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body });
      (answers.shift() ?? json(404, {}))(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  jest.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    response.writeHead(status, headers).end(JSON.stringify(body));
const text =
  (body: string): Handler =>
  (_, response) =>
    response.end(body);
/** A stream that sends `parts` and then ends, breaks, or stays open without data. */
const stream =
  (parts: string[], then: 'end' | 'break' | 'silence' = 'end'): Handler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    if (then === 'end') response.end();
    // Wait until the first chunk arrives.
    if (then === 'break') setImmediate(() => response.write(': \n', () => response.destroy()));
  };
const message = (id: string, body: object = { ...payment, type: 'payment' }): string =>
  `event: payment\nid: ${id}\ndata: ${JSON.stringify(body)}\n\n`;

const client = (options: object = {}): MerchantClient =>
  new MerchantClient({
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/edge//`,
    merchantId: 1001,
    apiKey: 'svc_test_x',
    wait: (milliseconds) => Promise.resolve(void pauses.push(milliseconds)),
    random: () => 0.5,
    ...options,
  });
const site = (options: object = {}) => client(options).site('2');
const asked = () => requests.map(({ method, url }) => `${method} ${url.replace('/edge/business/api/v1', '')}`);

describe('the six lookups', () => {
  it.each([
    ['of a merchant', () => client(), '/merchants/1001'],
    ['of a site', () => site(), '/merchants/1001/sites/2'],
  ])('have the path %s', async (_, from, path) => {
    answers = [json(200, [payment]), json(200, []), json(200, [payment])];
    expect(await from().paymentsOfInvoice('a/b')).toEqual([read]);
    expect(await from().paymentsOfExternalReference('Order 1&2')).toEqual([]);
    expect(await from().payment(payment.paymentReference)).toEqual(read);
    expect(
      await from()
        .payment('..')
        .catch((error: unknown) => error),
    ).toMatchObject({ httpStatus: 404 });
    expect(asked().slice(0, 3)).toEqual([
      `GET ${path}/invoices/a%2Fb/payments`,
      `GET ${path}/payments?externalReference=Order%201%262`,
      `GET ${path}/payments/${payment.paymentReference}`,
    ]);
    expect(requests[0]?.headers).toMatchObject({ 'x-api-key': 'svc_test_x', accept: 'application/json' });
  });

  it('return undefined for a payment of another merchant', async () => {
    answers = [json(200, [])];
    expect(await client().payment(payment.paymentReference)).toBeUndefined();
  });

  it.each([
    ['no list', {}],
    ['an amount that is no whole number', [{ ...payment, tenderedAmount: 1.5 }]],
    ['no status', [{ ...payment, status: 7 }]],
    ['no customer', [{ ...payment, customer: null }]],
    ['a voucher without its amount', [{ ...payment, vouchers: [{ merchantLiable: true }] }]],
    ['a voucher that nobody is liable for', [{ ...payment, vouchers: [{ amount: 1 }] }]],
    ['no vouchers', [{ ...payment, vouchers: undefined }]],
  ])('refuse a response with %s', async (_, body) => {
    answers = [json(200, body)];
    await expect(client().paymentsOfInvoice('i')).rejects.toMatchObject({ httpStatus: 200, retryable: false });
  });

  it('report the error of the API', async () => {
    answers = [json(400, { errors: [{ message: 'no', field: 'externalReference' }] }, { 'x-request-id': 'r-1' })];
    await expect(client().paymentsOfExternalReference('')).rejects.toMatchObject({
      httpStatus: 400,
      errors: [{ message: 'no', field: 'externalReference' }],
      requestId: 'r-1',
    });
  });
});

it('a site id that is not a number is refused', () =>
  expect(() => client().site('..')).toThrow('siteId must be digits'));

describe('invoices and tills of the client', () => {
  const request = {
    externalReference: 'ORDER-1',
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 12_345,
    origin: 'till',
    createdUTCDate: '2026-11-20T18:03:36Z',
  } as const;

  it('create, read and close an invoice', async () => {
    answers = [json(201, { ...invoice, externalReference: 'ORDER-1' }), json(200, invoice), json(204, undefined)];
    expect(await site().createInvoice(request)).toEqual({ ...invoice, externalReference: 'ORDER-1' });
    expect(await site().invoice('i-1')).toEqual(invoice);
    await site().closeInvoice('ORDER 1');
    expect(asked()).toEqual([
      'POST /merchants/1001/sites/2/invoices',
      'GET /merchants/1001/sites/2/invoices/i-1',
      'DELETE /merchants/1001/sites/2/invoices?externalReference=ORDER%201',
    ]);
    expect(JSON.parse(requests[0]!.body)).toEqual(request);
    expect(requests[0]!.headers).toMatchObject({ 'content-type': 'application/json', 'x-api-key': 'svc_test_x' });
    expect(requests[1]!.headers).not.toHaveProperty('content-type');
  });

  it('have codes as text and as images', async () => {
    answers = [
      json(201, { siteReference: 'A B', code: 'https://pay.example/c/2' }),
      text('<svg a/>'),
      text('<svg b/>'),
    ];
    expect(await site().tillCode('A B')).toBe('https://pay.example/c/2');
    expect(await site().tillQrCode('A B')).toBe('<svg a/>');
    expect(await site().invoiceQrCode('i-1')).toBe('<svg b/>');
    expect(asked()).toEqual([
      'PUT /merchants/1001/sites/2/tills/A%20B/code',
      'GET /merchants/1001/sites/2/tills/A%20B/code',
      'GET /merchants/1001/sites/2/invoices/i-1',
    ]);
    expect(requests.map(({ headers }) => headers.accept)).toEqual([
      'application/json',
      'image/svg+xml',
      'image/svg+xml',
    ]);
    await expect(site().tillQrCode('T')).rejects.toMatchObject({ httpStatus: 404 });
    await expect(site().closeInvoice('x')).rejects.toMatchObject({ httpStatus: 404 });
  });

  it('report an invoice as closed only on the response of the service, not on the page of a proxy', async () => {
    answers = [json(200, { page: 'Sign in to the network' })];
    await expect(site().closeInvoice('x')).rejects.toMatchObject({ httpStatus: 200, retryable: false });
  });

  it('read a closed invoice, and refuse an unknown state', async () => {
    answers = [json(200, { ...invoice, state: 'closed' }), json(200, { ...invoice, state: 'lost' })];
    expect(await site().invoice('i')).toEqual({ ...invoice, state: 'closed' });
    await expect(site().invoice('i')).rejects.toThrow('state is missing or malformed');
  });
});

describe('the event stream', () => {
  const refund = {
    refundReference: 'f-1',
    amount: 12_845,
    status: 'succeeded',
    createdUTCDate: '2026-11-20T18:04:00.000Z',
  };
  async function take(count: number, options: object = {}, ofClient: object = {}): Promise<PaymentNotice[]> {
    const notices: PaymentNotice[] = [];
    for await (const notice of site(ofClient).stream(options)) {
      notices.push(notice);
      if (notices.length === count) break;
    }
    return notices;
  }

  it('contains payments and refunds, and skips unknown types of later releases', async () => {
    answers = [
      stream([
        ': hello\n\n',
        message('1'),
        message('2', { type: 'settlement' }),
        message('3', { ...payment, type: 'refund', refund }),
      ]),
    ];
    expect(await take(2)).toEqual([
      { id: '1', type: 'payment', payment: read },
      { id: '3', type: 'refund', payment: read, refund },
    ]);
    expect(requests[0]).toMatchObject({ headers: { accept: 'text/event-stream', 'x-api-key': 'svc_test_x' } });
    expect(requests[0]!.headers).not.toHaveProperty('last-event-id');
    expect(asked()).toEqual(['GET /merchants/1001/sites/2/payments/stream']);
  });

  it('continues after the last event, however the connection ended', async () => {
    const whole = message('3');
    answers = [
      stream([message('1')], 'end'),
      json(503, {}, { 'retry-after': '7' }),
      stream([message('2'), whole.slice(0, 40)], 'break'),
      (request) => request.destroy(),
      stream([whole.slice(0, 20), whole.slice(20)], 'silence'),
      stream([message('4')]),
    ];
    const notices = await take(4, { after: '0', silenceMs: 1_000 });
    expect(notices.map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual(['0', '1', '1', '2', '2', '3']);
    expect(pauses).toEqual([250, 7000, 250, 500, 250]);
  });

  it('continues from its starting point if the first connection ends before any event', async () => {
    answers = [stream(['retry: 1000\nid: begin\n\n']), stream([message('1')])];
    expect((await take(1)).map(({ id }) => id)).toEqual(['1']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'begin']);
  });

  it('reports once that it is open, and after which id', async () => {
    answers = [
      json(503, {}),
      stream(['retry: 1000\nid: begin\n\n']),
      stream(['retry: 1000\nid: begin\n\n', message('1')]),
    ];
    const opened: string[] = [];
    await take(1, { onOpen: (id: string) => opened.push(id) });
    expect(opened).toEqual(['begin']);
  });

  it('waits for its reader without a time limit', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    let connection: ServerResponse | undefined;
    answers = [(request, response) => stream([message('1')], 'silence')(request, (connection = response))];
    const ids: string[] = [];
    for await (const { id } of site().stream({ silenceMs: 1_000 })) {
      ids.push(id);
      if (id === '2') break;
      jest.advanceTimersByTime(60_000);
      connection!.write(message('2'));
    }
    expect([ids, requests.length]).toEqual([['1', '2'], 1]);
  });

  it('gives up if the first connection fails, and never after that', async () => {
    answers = Array.from({ length: 4 }, () => json(503, {}));
    await expect(take(1)).rejects.toMatchObject({ httpStatus: 503 });
    expect(requests).toHaveLength(4);
    answers = [stream([message('1')]), ...Array.from({ length: 12 }, () => json(503, {})), stream([message('2')])];
    expect(await take(2)).toHaveLength(2);
    // The pause increases after each attempt, up to 16 s.
    expect(pauses.slice(-3)).toEqual([16_000, 16_000, 16_000]);
  });

  it.each([400, 401, 404, 410])('ends with the error of the API if a retry cannot succeed: %d', async (status) => {
    answers = [stream([message('1')]), json(status, { errors: [{ message: 'too old' }] })];
    await expect(take(2)).rejects.toMatchObject({ httpStatus: status, errors: [{ message: 'too old' }] });
    expect(requests).toHaveLength(2);
  });

  it.each([
    ['no JSON', `id: 1\ndata: {\n\n`],
    ['no id', `data: ${JSON.stringify({ ...payment, type: 'payment' })}\n\n`],
    ['a refund of no amount', message('1', { ...payment, type: 'refund', refund: { ...refund, amount: '1' } })],
    ['a refund of no state', message('1', { ...payment, type: 'refund', refund: { ...refund, status: 'lost' } })],
  ])('ends with an error at a message that has %s', async (_, sent) => {
    answers = [stream([sent])];
    await expect(take(1)).rejects.toMatchObject({ name: 'SvcApiError', httpStatus: 200, retryable: false });
    expect(requests).toHaveLength(1);
  });

  it('ends with an error at a message that never ends', async () => {
    answers = [stream([`id: 1\ndata: ${'x'.repeat(1024 * 1024 + 1)}`], 'silence')];
    await expect(take(1)).rejects.toMatchObject({ name: 'SvcApiError', retryable: false });
    expect(requests).toHaveLength(1);
  });

  it('ends at once when its signal is aborted during a pause', async () => {
    const ended = new AbortController();
    answers = [stream([message('1')])];
    const wait = (): Promise<void> => (ended.abort(), new Promise<void>(() => undefined));
    const notices = site({ wait }).stream({ signal: ended.signal });
    expect((await notices.next()).value).toMatchObject({ id: '1' });
    expect(await notices.next()).toEqual({ done: true, value: undefined });
  });

  it('closes its connection when its reader stops, and when the signal is aborted', async () => {
    const closed: Promise<unknown>[] = [];
    const open: Handler = (request, response) => {
      closed.push(once(response, 'close'));
      stream([message('1')], 'silence')(request, response);
    };
    answers = [open, open];
    await take(1);
    const ended = new AbortController();
    const notices = site().stream({ signal: ended.signal });
    await notices.next();
    const next = notices.next();
    ended.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it('stops waiting for a response that never begins', async () => {
    answers = Array.from({ length: 4 }, () => () => undefined);
    await expect(take(1, {}, { timeoutMs: 30 })).rejects.toMatchObject({ httpStatus: 0, retryable: true });
  });
});

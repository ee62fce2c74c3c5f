import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MerchantClient, type PaymentNotification } from '../index.js';

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
const expectedPayment = { ...payment, status: 'Success' };
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
let handlers: Handler[];
let requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
let pauses: number[];

beforeEach(async () => {
  [handlers, requests, pauses] = [[], [], []];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body });
      (handlers.shift() ?? respondJson(404, {}))(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  jest.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const respondJson =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    response.writeHead(status, headers).end(JSON.stringify(body));
const respondText =
  (body: string): Handler =>
  (_, response) =>
    response.end(body);
/** Responds with an event stream that sends `parts`, and then ends, breaks, or stays open without data. */
const respondStream =
  (parts: string[], then: 'end' | 'break' | 'silence' = 'end'): Handler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    if (then === 'end') response.end();
    // Break the connection only after the client has received the first chunk.
    if (then === 'break') setImmediate(() => response.write(': \n', () => response.destroy()));
  };
const formatMessage = (id: string, body: object = { ...payment, type: 'payment' }): string =>
  `event: payment\nid: ${id}\ndata: ${JSON.stringify(body)}\n\n`;

const createClient = (options: object = {}): MerchantClient =>
  new MerchantClient({
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/edge//`,
    merchantId: 1001,
    apiKey: 'svc_test_x',
    wait: (milliseconds) => Promise.resolve(void pauses.push(milliseconds)),
    random: () => 0.5,
    ...options,
  });
const createSite = (options: object = {}) => createClient(options).site('2');
const requestedRoutes = () =>
  requests.map(({ method, url }) => `${method} ${url.replace('/edge/business/api/v1', '')}`);

describe('the three look-ups of payments', () => {
  it.each([
    ['of a merchant', () => createClient(), '/merchants/1001'],
    ['of a site', () => createSite(), '/merchants/1001/sites/2'],
  ])('%s request the documented paths', async (_, createLookUps, path) => {
    handlers = [respondJson(200, [payment]), respondJson(200, []), respondJson(200, [payment])];
    expect(await createLookUps().paymentsOfInvoice('a/b')).toEqual([expectedPayment]);
    expect(await createLookUps().paymentsOfExternalReference('Order 1&2')).toEqual([]);
    expect(await createLookUps().payment(payment.paymentReference)).toEqual(expectedPayment);
    expect(
      await createLookUps()
        .payment('..')
        .catch((error: unknown) => error),
    ).toMatchObject({ httpStatus: 404 });
    expect(requestedRoutes().slice(0, 3)).toEqual([
      `GET ${path}/invoices/a%2Fb/payments`,
      `GET ${path}/payments?externalReference=Order%201%262`,
      `GET ${path}/payments/${payment.paymentReference}`,
    ]);
    expect(requests[0]?.headers).toMatchObject({ 'x-api-key': 'svc_test_x', accept: 'application/json' });
  });

  it('return undefined for a payment of another merchant', async () => {
    handlers = [respondJson(200, [])];
    expect(await createClient().payment(payment.paymentReference)).toBeUndefined();
  });

  it.each([
    ['payments', {}],
    ['payment', [7]],
    ['tenderedAmount', [{ ...payment, tenderedAmount: 1.5 }]],
    ['status', [{ ...payment, status: 7 }]],
    ['customer', [{ ...payment, customer: null }]],
    ['amount', [{ ...payment, vouchers: [{ merchantLiable: true }] }]],
    ['merchantLiable', [{ ...payment, vouchers: [{ amount: 1 }] }]],
    ['vouchers', [{ ...payment, vouchers: undefined }]],
    ['vouchers', [{ ...payment, vouchers: [7] }]],
  ])('refuse a response in which the field %s is malformed: %j', async (field, body) => {
    handlers = [respondJson(200, body)];
    const errors = [{ message: `The response cannot be read: ${field} is missing or malformed` }];
    await expect(createClient().paymentsOfInvoice('i')).rejects.toMatchObject({ httpStatus: 200, errors });
  });

  it('throw the error of the API', async () => {
    handlers = [
      respondJson(400, { errors: [{ message: 'no', field: 'externalReference' }] }, { 'x-request-id': 'r-1' }),
    ];
    await expect(createClient().paymentsOfExternalReference('')).rejects.toMatchObject({
      httpStatus: 400,
      errors: [{ message: 'no', field: 'externalReference' }],
      requestId: 'r-1',
    });
  });
});

it('client.site() refuses a site id that is not a number', () =>
  expect(() => createClient().site('..')).toThrow('siteId must be digits'));

describe('the methods for invoices and tills', () => {
  const request = {
    externalReference: 'ORDER-1',
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 12_345,
    origin: 'till',
    createdUTCDate: '2026-11-20T18:03:36Z',
  } as const;

  it('create, read and close an invoice', async () => {
    handlers = [
      respondJson(201, { ...invoice, externalReference: 'ORDER-1' }),
      respondJson(200, invoice),
      respondJson(204, undefined),
    ];
    expect(await createSite().createInvoice(request)).toEqual({ ...invoice, externalReference: 'ORDER-1' });
    expect(await createSite().invoice('i-1')).toEqual(invoice);
    await createSite().closeInvoice('ORDER 1');
    expect(requestedRoutes()).toEqual([
      'POST /merchants/1001/sites/2/invoices',
      'GET /merchants/1001/sites/2/invoices/i-1',
      'DELETE /merchants/1001/sites/2/invoices?externalReference=ORDER%201',
    ]);
    expect(JSON.parse(requests[0]!.body)).toEqual(request);
    expect(requests[0]!.headers).toMatchObject({ 'content-type': 'application/json', 'x-api-key': 'svc_test_x' });
    expect(requests[1]!.headers).not.toHaveProperty('content-type');
  });

  it('return codes as text and as SVG images', async () => {
    handlers = [
      respondJson(201, { siteReference: 'A B', code: 'https://pay.example/c/2' }),
      respondText('<svg a/>'),
      respondText('<svg b/>'),
    ];
    expect(await createSite().tillCode('A B')).toBe('https://pay.example/c/2');
    expect(await createSite().tillQrCode('A B')).toBe('<svg a/>');
    expect(await createSite().invoiceQrCode('i-1')).toBe('<svg b/>');
    expect(requestedRoutes()).toEqual([
      'PUT /merchants/1001/sites/2/tills/A%20B/code',
      'GET /merchants/1001/sites/2/tills/A%20B/code',
      'GET /merchants/1001/sites/2/invoices/i-1',
    ]);
    expect(requests.map(({ headers }) => headers.accept)).toEqual([
      'application/json',
      'image/svg+xml',
      'image/svg+xml',
    ]);
    await expect(createSite().tillQrCode('T')).rejects.toMatchObject({ httpStatus: 404 });
    await expect(createSite().closeInvoice('x')).rejects.toMatchObject({ httpStatus: 404 });
  });

  it('throw an error if a proxy instead of the API responds to closeInvoice', async () => {
    handlers = [respondJson(200, { page: 'Sign in to the network' })];
    await expect(createSite().closeInvoice('x')).rejects.toMatchObject({ httpStatus: 200, retryable: false });
  });

  it('return a closed invoice, and refuse an invoice with an unknown state', async () => {
    handlers = [respondJson(200, { ...invoice, state: 'closed' }), respondJson(200, { ...invoice, state: 'lost' })];
    expect(await createSite().invoice('i')).toEqual({ ...invoice, state: 'closed' });
    await expect(createSite().invoice('i')).rejects.toThrow('state is missing or malformed');
  });
});

describe('the event stream', () => {
  const refund = {
    refundReference: 'f-1',
    amount: 12_845,
    status: 'succeeded',
    createdUTCDate: '2026-11-20T18:04:00.000Z',
  };
  const dispute = { disputeReference: 'd-1', stage: 'won', amount: 250, reason: '', createdUTCDate: '2026-11-20' };
  const fakeTimeouts = () =>
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  /** Reads the first `count` notifications of the stream. */
  async function takeNotifications(
    count: number,
    options: object = {},
    clientOptions: object = {},
  ): Promise<PaymentNotification[]> {
    const notifications: PaymentNotification[] = [];
    for await (const notification of createSite(clientOptions).stream(options)) {
      notifications.push(notification);
      if (notifications.length === count) break;
    }
    return notifications;
  }

  it('returns payments, refunds and disputes, and skips unknown types of later releases', async () => {
    handlers = [
      respondStream([
        ': hello\n\n',
        formatMessage('1'),
        formatMessage('2', { type: 'settlement' }),
        formatMessage('3', { ...payment, type: 'refund', refund }),
        formatMessage('4', { ...payment, type: 'dispute', dispute }),
      ]),
    ];
    expect(await takeNotifications(3)).toStrictEqual([
      { id: '1', type: 'payment', payment: expectedPayment },
      { id: '3', type: 'refund', payment: expectedPayment, refund },
      { id: '4', type: 'dispute', payment: expectedPayment, dispute },
    ]);
    expect(requests[0]).toMatchObject({ headers: { accept: 'text/event-stream', 'x-api-key': 'svc_test_x' } });
    expect(requests[0]!.headers).not.toHaveProperty('last-event-id');
    expect(requestedRoutes()).toEqual(['GET /merchants/1001/sites/2/payments/stream']);
  });

  it('continues after the last event, whether the connection ended, broke or became silent', async () => {
    const thirdMessage = formatMessage('3');
    handlers = [
      respondStream([formatMessage('1')], 'end'),
      respondJson(503, {}, { 'retry-after': '7' }),
      respondStream([formatMessage('2'), thirdMessage.slice(0, 40)], 'break'),
      (request) => request.socket.destroy(),
      respondStream([thirdMessage.slice(0, 20), thirdMessage.slice(20)], 'silence'),
      respondStream([formatMessage('4')]),
    ];
    fakeTimeouts();
    const ids: string[] = [];
    for await (const { id } of createSite().stream({ after: '0', silenceMs: 1_000 })) {
      ids.push(id);
      if (id === '4') break;
      // By then, the client waits for more data.
      if (id === '3') setImmediate(() => jest.advanceTimersByTime(1_000));
    }
    expect(ids).toEqual(['1', '2', '3', '4']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual(['0', '1', '1', '2', '2', '3']);
    expect(pauses).toEqual([250, 7000, 250, 500, 250]);
  });

  it('continues after its initial id if the first connection ends before any event', async () => {
    handlers = [respondStream(['retry: 1000\nid: begin\n\n']), respondStream([formatMessage('1')])];
    expect((await takeNotifications(1)).map(({ id }) => id)).toEqual(['1']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'begin']);
  });

  it('calls onOpen once, with the id after which the stream begins', async () => {
    handlers = [
      respondJson(503, {}),
      respondStream(['retry: 1000\nid: begin\n\n']),
      respondStream(['retry: 1000\nid: begin\n\n', formatMessage('1')]),
    ];
    const initialIds: string[] = [];
    await takeNotifications(1, { onOpen: (id: string) => initialIds.push(id) });
    expect(initialIds).toEqual(['begin']);
  });

  it('does not reconnect while the caller processes a notification for longer than silenceMs', async () => {
    fakeTimeouts();
    let connection: ServerResponse | undefined;
    handlers = [
      (request, response) => respondStream([formatMessage('1')], 'silence')(request, (connection = response)),
    ];
    const ids: string[] = [];
    for await (const { id } of createSite().stream({ silenceMs: 1_000 })) {
      ids.push(id);
      if (id === '2') break;
      jest.advanceTimersByTime(60_000);
      connection!.write(formatMessage('2'));
    }
    expect([ids, requests.length]).toEqual([['1', '2'], 1]);
  });

  it('gives up the first connection after four attempts, but reconnects later without limit', async () => {
    handlers = Array.from({ length: 4 }, () => respondJson(503, {}));
    await expect(takeNotifications(1)).rejects.toMatchObject({ httpStatus: 503 });
    expect(requests).toHaveLength(4);
    handlers = [
      respondStream([formatMessage('1')]),
      ...Array.from({ length: 12 }, () => respondJson(503, {})),
      respondStream([formatMessage('2')]),
    ];
    expect(await takeNotifications(2)).toHaveLength(2);
    // The pause increases after each attempt, up to 16 s.
    expect(pauses.slice(-3)).toEqual([16_000, 16_000, 16_000]);
  });

  it.each([400, 401, 404, 410])(
    'ends with the error of the API after a %d, because a retry cannot succeed',
    async (status) => {
      handlers = [respondStream([formatMessage('1')]), respondJson(status, { errors: [{ message: 'too old' }] })];
      await expect(takeNotifications(2)).rejects.toMatchObject({
        httpStatus: status,
        errors: [{ message: 'too old' }],
      });
      expect(requests).toHaveLength(2);
    },
  );

  it.each([
    ['notification', `id: 1\ndata: {\n\n`],
    ['id', `data: ${JSON.stringify({ ...payment, type: 'payment' })}\n\n`],
    ['type', formatMessage('1', payment)],
    ['refund', formatMessage('1', { ...payment, type: 'refund' })],
    ['amount', formatMessage('1', { ...payment, type: 'refund', refund: { ...refund, amount: '1' } })],
    ['status', formatMessage('1', { ...payment, type: 'refund', refund: { ...refund, status: 'lost' } })],
    ['dispute', formatMessage('1', { ...payment, type: 'dispute' })],
    ['stage', formatMessage('1', { ...payment, type: 'dispute', dispute: { ...dispute, stage: 'failed' } })],
  ])('ends with an error at a message in which the field %s is malformed', async (field, sent) => {
    handlers = [respondStream([sent])];
    const message = `A message of the stream cannot be read: ${field} is missing or malformed`;
    const expected = { name: 'SvcApiError', httpStatus: 200, status: 'InternalServer', retryable: false };
    await expect(takeNotifications(1)).rejects.toMatchObject({ ...expected, errors: [{ message }] });
    expect(requests).toHaveLength(1);
  });

  it('ends with an error at a message of more than 1 MiB', async () => {
    handlers = [respondStream([`id: 1\ndata: ${'x'.repeat(1024 * 1024 + 1)}`], 'silence')];
    await expect(takeNotifications(1)).rejects.toMatchObject({ name: 'SvcApiError', retryable: false });
    expect(requests).toHaveLength(1);
  });

  it('ends immediately when its signal is aborted during a pause', async () => {
    const abort = new AbortController();
    handlers = [respondStream([formatMessage('1')])];
    const wait = (): Promise<void> => (abort.abort(), new Promise<void>(() => undefined));
    const notifications = createSite({ wait }).stream({ signal: abort.signal });
    expect((await notifications.next()).value).toMatchObject({ id: '1' });
    expect(await notifications.next()).toEqual({ done: true, value: undefined });
  });

  it('closes its connection when the caller stops reading, and when the signal is aborted', async () => {
    const closed: Promise<unknown>[] = [];
    const open: Handler = (request, response) => {
      closed.push(once(response, 'close'));
      respondStream([formatMessage('1')], 'silence')(request, response);
    };
    handlers = [open, open];
    await takeNotifications(1);
    const abort = new AbortController();
    const notifications = createSite().stream({ signal: abort.signal });
    await notifications.next();
    const next = notifications.next();
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it('ends with an error if the server does not respond within the timeout', async () => {
    handlers = Array.from({ length: 4 }, () => () => undefined);
    await expect(takeNotifications(1, {}, { timeoutMs: 30 })).rejects.toMatchObject({
      httpStatus: 0,
      errors: [
        { message: expect.stringMatching(/^http:\/\/127[\d.:]+: The response does not begin in time$/) as string },
      ],
      retryable: true,
    });
  });
});

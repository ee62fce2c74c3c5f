import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '@svc/service';
import { PaymentProcessorConfig } from '../config.js';
import { SimulatedAcquirerClient } from './simulated-acquirer.client.js';

let server: Server;
let client: SimulatedAcquirerClient;
let answer: { status: number; body: string };
const seen: { request: string; mode: unknown; account: unknown }[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    const { 'acquirer-mode': mode, 'acquirer-account': account } = request.headers;
    seen.push({ request: `${request.method} ${request.url}`, mode, account });
    request.resume();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new SimulatedAcquirerClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 2, false);
});
afterAll(async () => {
  await client.onApplicationShutdown();
  server.close();
});
beforeEach(() => seen.splice(0));

const ACCOUNT = { mode: 'live', accountReference: 'shop-7' } as const;
const TERMS = {
  account: ACCOUNT,
  idempotencyKey: 'key-1',
  paymentReference: 'p-1',
  amount: 100,
  currencyISOCode: 'ZAR',
} as const;
const CARD = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T', expiryMonth: 12, expiryYear: 2030 };
const charge = () =>
  client.charge(
    { ...TERMS, card: CARD, payerReturnUrl: 'https://pay.example', payer: undefined },
    new AbortController().signal,
  );
const chargeVerified = () =>
  client.chargeVerified({ ...TERMS, challengeReference: 'c-1' }, new AbortController().signal);
const getChargeStatus = () => client.getChargeStatus('key-1', ACCOUNT);
const reverse = () => client.reverse('key-1', ACCOUNT);
const refund = () =>
  client.refund(
    { ...TERMS, idempotencyKey: 'refund-1', chargeKey: 'key-1', chargeReference: 'a-1' },
    new AbortController().signal,
  );
const getRefundStatus = () => client.getRefundStatus('refund-1', ACCOUNT);

const record = (over: object): string => JSON.stringify({ acquirerReference: 'a-1', charged: false, ...over });
const OUTCOMES: readonly [string, object][] = [
  [record({ outcome: 'approved', charged: true }), { kind: 'approved', acquirerReference: 'a-1' }],
  [
    record({ outcome: 'declined', reason: 'expired' }),
    { kind: 'declined', reason: 'card.expired', acquirerReference: 'a-1' },
  ],
  [
    record({ outcome: 'declined', reason: 'new' }),
    { kind: 'declined', reason: 'card.declined', acquirerReference: 'a-1' },
  ],
  [record({ outcome: 'reversed', charged: true }), { kind: 'reversed' }],
  [record({ outcome: 'reversed', charged: false }), { kind: 'neverCharged' }],
  [
    record({ outcome: 'challenged', challenge: { reference: 'c' }, challengeUrl: 'https://bank.example/c' }),
    { kind: 'verificationRequired', challenge: { reference: 'c', url: 'https://bank.example/c' } },
  ],
];

/** Responses with status 200 and an unclear outcome. */
const UNCLEAR = [
  ['an outcome of another version', record({ outcome: 'pending' })],
  ['no outcome', record({})],
  ['a reversed key without charged', record({ outcome: 'reversed', charged: undefined })],
  ['a reversed key with an invalid charged', record({ outcome: 'reversed', charged: 'yes' })],
  ['an approval without a reference', JSON.stringify({ outcome: 'approved', charged: true })],
  ['a challenge without a URL', record({ outcome: 'challenged', challenge: { reference: 'c' } })],
  ['nothing', 'null'],
  ['no JSON', '<html>'],
] as const;

describe.each([
  ['charge', charge],
  ['charge of a verified payer', chargeVerified],
  ['question', getChargeStatus],
])('the response to a %s', (_, call) => {
  test.each(OUTCOMES)('%s', async (body, outcome) => {
    answer = { status: 200, body };
    expect(await call()).toEqual(outcome);
  });

  test.each(UNCLEAR)('has an unknown outcome if it is %s', async (__, body) => {
    answer = { status: 200, body };
    expect(await call()).toEqual({ kind: 'unknown' });
  });

  test.each([201, 400, 500, 503])('has an unknown outcome with HTTP status %i', async (status) => {
    answer = { status, body: record({ outcome: 'declined' }) };
    expect(await call()).toEqual({ kind: 'unknown' });
  });
});

describe('the response to a reversal', () => {
  test.each([
    [record({ outcome: 'reversed', charged: true }), { kind: 'reversed' }],
    [record({ outcome: 'reversed', charged: false }), { kind: 'neverCharged' }],
  ])('%s', async (body, outcome) => {
    answer = { status: 200, body };
    expect(await reverse()).toEqual(outcome);
  });

  test.each<readonly [string, string]>([
    ...UNCLEAR,
    ['a charge that stands', record({ outcome: 'approved', charged: true })],
  ])('is no confirmation if it is %s', async (_, body) => {
    answer = { status: 200, body };
    expect(await reverse()).toEqual({ kind: 'unconfirmed' });
  });
});

test.each([
  [JSON.stringify({ state: 'pending' }), 'pending'],
  [JSON.stringify({ state: 'passed' }), 'passed'],
  [JSON.stringify({ state: 'failed' }), 'failed'],
  [JSON.stringify({ state: 'expired' }), 'unknown'],
  ['{}', 'unknown'],
  ['null', 'unknown'],
  ['<html>', 'unknown'],
])('the response %s to a query of a challenge means %s', async (body, state) => {
  answer = { status: 200, body };
  expect(await client.getChallengeState('c-1', ACCOUNT)).toBe(state);
});

describe('live mode', () => {
  const ENV = {
    SVC_DATABASE_URL: 'postgres://role:password@localhost/db',
    SVC_SEALING_KEY: 'A'.repeat(43),
    SVC_ADMIN_KEY: 'A'.repeat(43),
    SVC_ACQUIRER_URL: 'http://127.0.0.1:1',
    SVC_API_URL: 'https://api.example',
    SVC_CODES_URL: 'https://pay.example',
    SVC_ENVIRONMENT: 'development',
  };
  const from = (over: Record<string, string>) =>
    SimulatedAcquirerClient.from(loadConfig(PaymentProcessorConfig, { ...ENV, ...over }));

  test('is supported only if configured; test mode is always supported', () => {
    const served = [from({}), from({ SVC_ENVIRONMENT: 'production' }), from({ SVC_ACQUIRER_LIVE: 'simulated' })].map(
      (acquirer) => [acquirer.serves('test'), acquirer.serves('live')],
    );
    expect(served).toEqual([
      [true, false],
      [true, false],
      [true, true],
    ]);
  });

  test('is never supported by the simulated acquirer in production', () => {
    const production = { SVC_ACQUIRER_LIVE: 'simulated', SVC_ENVIRONMENT: 'production' };
    expect(() => from(production)).toThrow('SVC_ACQUIRER_LIVE=simulated is for development');
  });
});

const refunded = (over: object): string => JSON.stringify({ acquirerReference: 'r-1', ...over });

describe.each([
  ['refund', refund],
  ['question about a refund', getRefundStatus],
])('the response to a %s', (_, call) => {
  test.each([
    [refunded({ outcome: 'succeeded' }), { kind: 'succeeded', acquirerReference: 'r-1' }],
    [refunded({ outcome: 'declined', reason: 'refused' }), { kind: 'declined', acquirerReference: 'r-1' }],
    [refunded({ outcome: 'pending' }), { kind: 'pending' }],
  ])('%s', async (body, outcome) => {
    answer = { status: 200, body };
    expect(await call()).toEqual(outcome);
  });

  test.each([
    ['an outcome of another version', refunded({ outcome: 'approved' })],
    ['no outcome', refunded({})],
    ['a success without a reference', JSON.stringify({ outcome: 'succeeded' })],
    ['a refusal without a reference', JSON.stringify({ outcome: 'declined' })],
    ['nothing', 'null'],
    ['text', '"declined"'],
    ['no JSON', '<html>'],
  ])('has an unknown outcome if it is %s', async (__, body) => {
    answer = { status: 200, body };
    expect(await call()).toEqual({ kind: 'unknown' });
  });

  test.each([201, 400, 409, 500, 503])('has an unknown outcome with HTTP status %i', async (status) => {
    answer = { status, body: refunded({ outcome: 'declined' }) };
    expect(await call()).toEqual({ kind: 'unknown' });
  });
});

test('a query of a refund that the acquirer has not received is notFound; the refund call itself never is', async () => {
  answer = { status: 404, body: '{}' };
  expect([await getRefundStatus(), await refund()]).toEqual([{ kind: 'notFound' }, { kind: 'unknown' }]);
});

test('the outcome of a refund that does not reach the acquirer is unknown, like one whose response is lost', async () => {
  const nowhere = new SimulatedAcquirerClient('http://127.0.0.1:1', 1, false);
  const terms = { ...TERMS, chargeKey: 'key-1', chargeReference: 'a-1' };
  expect(await nowhere.refund(terms, new AbortController().signal)).toEqual({ kind: 'unknown' });
  await nowhere.onApplicationShutdown();
});

describe('a statement', () => {
  const line = {
    kind: 'refund',
    key: 'refund-1',
    paymentReference: 'p-1',
    acquirerReference: 'r-1',
    amount: 250,
    currency: 'ZAR',
    at: '2026-03-01T10:00:00.000Z',
  };
  const read = (next?: string) => client.readStatement('2026-03-01', ACCOUNT, next);

  test('is read page by page', async () => {
    answer = { status: 200, body: JSON.stringify({ lines: [line], next: 200 }) };
    const { key, currency, at, ...same } = line;
    const lines = [{ ...same, idempotencyKey: key, currencyISOCode: currency, movedUTCDate: at }];
    expect(await read()).toEqual({ lines, next: '200' });
    answer = { status: 200, body: JSON.stringify({ lines: [] }) };
    expect(await read('200')).toEqual({ lines: [], next: undefined });
    expect(seen.map(({ request }) => request)).toEqual([
      'GET /statements/2026-03-01?after=0',
      'GET /statements/2026-03-01?after=200',
    ]);
  });

  test.each([
    ['kind', 'fee'],
    ['key', ''],
    ['amount', 2.5],
    ['amount', -1],
    ['currency', undefined],
    ['at', 7],
  ])('with an invalid %s (%j) in one line is rejected completely', async (member, value) => {
    answer = { status: 200, body: JSON.stringify({ lines: [line, { ...line, [member]: value }] }) };
    expect(await read()).toBeUndefined();
  });

  test.each([
    [200, '{}'],
    [200, 'null'],
    [200, '<html>'],
    [503, JSON.stringify({ lines: [line] })],
  ])('with HTTP status %i and body %s is rejected', async (status, body) => {
    answer = { status, body };
    expect(await read()).toBeUndefined();
  });
});

test('every call about money contains mode and merchant account; every call about cards contains the mode', async () => {
  answer = { status: 500, body: '{}' };
  await charge();
  await chargeVerified();
  await getChargeStatus();
  await reverse();
  await refund();
  await getRefundStatus();
  await client.readStatement('2026-03-01', ACCOUNT);
  await client.getChallengeState('c-1', ACCOUNT);
  await client.storeCard(CARD, 'live');
  await client.deleteCard({ vaultToken: 'v-1' }, 'live');
  expect(seen).toEqual(
    [
      'POST /charges',
      'POST /charges',
      'GET /charges/key-1',
      'POST /charges/key-1/reversal',
      'POST /refunds',
      'GET /refunds/refund-1',
      'GET /statements/2026-03-01?after=0',
      'GET /challenges/c-1/state',
      'POST /cards',
      'DELETE /cards/v-1',
    ].map((request) => ({
      request,
      mode: 'live',
      account: request.includes('/cards') ? undefined : 'shop-7',
    })),
  );
});

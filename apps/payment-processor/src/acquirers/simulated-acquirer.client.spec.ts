import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '@svc/service';
import { PaymentProcessorConfig } from '../config.js';
import { SimulatedAcquirerClient } from './simulated-acquirer.client.js';

const MAX_CONNECTIONS = 2;
const SUPPORTS_LIVE_MODE = false;
let server: Server;
let client: SimulatedAcquirerClient;
let stubbedResponse: { status: number; body: string };
const receivedRequests: { request: string; mode: unknown; account: unknown }[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    const { 'acquirer-mode': mode, 'acquirer-account': account } = request.headers;
    receivedRequests.push({ request: `${request.method} ${request.url}`, mode, account });
    request.resume();
    // A proxy before the acquirer may send 100 without being asked.
    response.writeContinue();
    response.writeHead(stubbedResponse.status, { 'content-type': 'application/json' }).end(stubbedResponse.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = new SimulatedAcquirerClient(`http://127.0.0.1:${port}`, MAX_CONNECTIONS, SUPPORTS_LIVE_MODE);
});
afterAll(async () => {
  await client.onApplicationShutdown();
  server.close();
});
beforeEach(() => receivedRequests.splice(0));

const ACCOUNT = { mode: 'live', accountReference: 'shop-7' } as const;
const TERMS = {
  account: ACCOUNT,
  idempotencyKey: 'key-1',
  paymentReference: 'p-1',
  amount: 100,
  currencyISOCode: 'ZAR',
} as const;
const VERIFICATION = { challengeReference: 'c-1', result: undefined };
const CARD = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T', expiryMonth: 12, expiryYear: 2030 };
const charge = () =>
  client.charge(
    { ...TERMS, card: CARD, bankReturnUrl: 'https://pay.example', pageOrigin: undefined, payer: undefined },
    new AbortController().signal,
  );
const chargeVerified = () =>
  client.chargeVerified({ ...TERMS, verification: VERIFICATION }, new AbortController().signal);
const getChargeStatus = () => client.getChargeStatus('key-1', ACCOUNT);
const reverse = () => client.reverse({ account: ACCOUNT, chargeKey: 'key-1', paymentReference: 'p-1' });
const REFUND = {
  ...TERMS,
  idempotencyKey: 'refund-1',
  chargeKey: 'key-1',
  chargeReference: 'a-1',
  acquirerReference: undefined,
};
const refund = () => client.refund(REFUND, new AbortController().signal);
const getRefundStatus = () => client.getRefundStatus(REFUND);

const chargeRecordJson = (overrides: object): string =>
  JSON.stringify({ acquirerReference: 'a-1', charged: false, ...overrides });
const CLEAR_RESPONSES: readonly [string, object][] = [
  [chargeRecordJson({ outcome: 'approved', charged: true }), { kind: 'approved', acquirerReference: 'a-1' }],
  [
    chargeRecordJson({ outcome: 'declined', reason: 'expired' }),
    { kind: 'declined', reason: 'card.expired', acquirerReference: 'a-1', acquirerCode: 'expired' },
  ],
  [
    chargeRecordJson({ outcome: 'declined', reason: 'new' }),
    { kind: 'declined', reason: 'card.declined', acquirerReference: 'a-1', acquirerCode: 'new' },
  ],
  [
    chargeRecordJson({ outcome: 'declined', reason: 'stolen' }),
    {
      kind: 'declined',
      reason: 'card.suspected-fraud',
      acquirerReference: 'a-1',
      acquirerCode: 'stolen',
      mustNotRetry: true,
    },
  ],
  [chargeRecordJson({ outcome: 'reversed', charged: true }), { kind: 'reversed' }],
  [chargeRecordJson({ outcome: 'reversed', charged: false }), { kind: 'neverCharged' }],
  [
    chargeRecordJson({ outcome: 'challenged', challenge: { reference: 'c' }, challengeUrl: 'https://bank.example/c' }),
    { kind: 'verificationRequired', challenge: { reference: 'c', url: 'https://bank.example/c' } },
  ],
];

/** Bodies of responses with status 200 and an unclear outcome, each with its description. */
const UNCLEAR_RESPONSES = [
  ['an outcome that this version does not know', chargeRecordJson({ outcome: 'pending' })],
  ['no outcome', chargeRecordJson({})],
  ['a reversal without the field charged', chargeRecordJson({ outcome: 'reversed', charged: undefined })],
  ['a reversal with an invalid field charged', chargeRecordJson({ outcome: 'reversed', charged: 'yes' })],
  ['an approval without a reference', JSON.stringify({ outcome: 'approved', charged: true })],
  ['a challenge without a URL', chargeRecordJson({ outcome: 'challenged', challenge: { reference: 'c' } })],
  ['the body null', 'null'],
  ['a body that is not JSON', '<html>'],
] as const;

describe.each([
  ['charge', charge],
  ['charge of a verified payer', chargeVerified],
  ['query of a charge', getChargeStatus],
])('the response to a %s', (_, call) => {
  test.each(CLEAR_RESPONSES)('has the body %s, which is parsed to %j', async (body, outcome) => {
    stubbedResponse = { status: 200, body };
    expect(await call()).toEqual(outcome);
  });

  test.each(UNCLEAR_RESPONSES)('is parsed to an unknown outcome if it has %s', async (__, body) => {
    stubbedResponse = { status: 200, body };
    expect(await call()).toEqual({ kind: 'unknown' });
  });

  test.each([201, 400, 500, 503])('is parsed to an unknown outcome if it has HTTP status %i', async (status) => {
    stubbedResponse = { status, body: chargeRecordJson({ outcome: 'declined' }) };
    expect(await call()).toEqual({ kind: 'unknown' });
  });
});

describe('the response to a reversal', () => {
  test.each([
    [chargeRecordJson({ outcome: 'reversed', charged: true }), { kind: 'reversed' }],
    [chargeRecordJson({ outcome: 'reversed', charged: false }), { kind: 'neverCharged' }],
  ])('has the body %s, which is parsed to %j', async (body, outcome) => {
    stubbedResponse = { status: 200, body };
    expect(await reverse()).toEqual(outcome);
  });

  test.each<readonly [string, string]>([
    ...UNCLEAR_RESPONSES,
    ['a charge that is not reversed', chargeRecordJson({ outcome: 'approved', charged: true })],
  ])('does not confirm the reversal if it has %s', async (_, body) => {
    stubbedResponse = { status: 200, body };
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
])('the response %s to a query of a challenge is parsed to the state %s', async (body, state) => {
  stubbedResponse = { status: 200, body };
  expect(await client.getChallengeState(VERIFICATION, ACCOUNT)).toBe(state);
});

describe('live mode', () => {
  const ENV = {
    SVC_DATABASE_URL: 'postgres://role:password@localhost/db',
    SVC_SEALING_KEY: 'A'.repeat(43),
    SVC_CARD_FINGERPRINT_KEYS: 'A'.repeat(43),
    SVC_ADMIN_KEY: 'A'.repeat(43),
    SVC_ACQUIRER_URL: 'http://127.0.0.1:1',
    SVC_API_URL: 'https://api.example',
    SVC_CODES_URL: 'https://pay.example',
    SVC_ENVIRONMENT: 'development',
  };
  const clientWithEnv = (overrides: Record<string, string>) =>
    SimulatedAcquirerClient.from(loadConfig(PaymentProcessorConfig, { ...ENV, ...overrides }));

  test('is supported only if it is configured; test mode is always supported', () => {
    const supportedModes = [
      clientWithEnv({}),
      clientWithEnv({ SVC_ENVIRONMENT: 'production' }),
      clientWithEnv({ SVC_ACQUIRER_LIVE: 'simulated' }),
    ].map((acquirer) => [acquirer.supportsMode('test'), acquirer.supportsMode('live')]);
    expect(supportedModes).toEqual([
      [true, false],
      [true, false],
      [true, true],
    ]);
  });

  test('is never supported by the simulated acquirer in production', () => {
    const production = { SVC_ACQUIRER_LIVE: 'simulated', SVC_ENVIRONMENT: 'production' };
    expect(() => clientWithEnv(production)).toThrow('SVC_ACQUIRER_LIVE=simulated is for development');
  });

  test('and test mode are not supported without a URL, and the live mode cannot be configured', () => {
    const withoutUrl = clientWithEnv({ SVC_ACQUIRER_URL: '' });
    expect([withoutUrl.supportsMode('test'), withoutUrl.supportsMode('live')]).toEqual([false, false]);
    expect(() => clientWithEnv({ SVC_ACQUIRER_URL: '', SVC_ACQUIRER_LIVE: 'simulated' })).toThrow(
      'SVC_ACQUIRER_URL is required',
    );
  });
});

const refundRecordJson = (overrides: object): string => JSON.stringify({ acquirerReference: 'r-1', ...overrides });

describe.each([
  ['refund', refund],
  ['query of a refund', getRefundStatus],
])('the response to a %s', (_, call) => {
  test.each([
    [refundRecordJson({ outcome: 'succeeded' }), { kind: 'succeeded', acquirerReference: 'r-1' }],
    [refundRecordJson({ outcome: 'declined', reason: 'refused' }), { kind: 'declined', acquirerReference: 'r-1' }],
    [refundRecordJson({ outcome: 'pending' }), { kind: 'pending' }],
  ])('has the body %s, which is parsed to %j', async (body, outcome) => {
    stubbedResponse = { status: 200, body };
    expect(await call()).toEqual(outcome);
  });

  test.each([
    ['an outcome that this version does not know', refundRecordJson({ outcome: 'approved' })],
    ['no outcome', refundRecordJson({})],
    ['a success without a reference', JSON.stringify({ outcome: 'succeeded' })],
    ['a decline without a reference', JSON.stringify({ outcome: 'declined' })],
    ['the body null', 'null'],
    ['a body that is a JSON string', '"declined"'],
    ['a body that is not JSON', '<html>'],
  ])('is parsed to an unknown outcome if it has %s', async (__, body) => {
    stubbedResponse = { status: 200, body };
    expect(await call()).toEqual({ kind: 'unknown' });
  });

  test.each([201, 400, 409, 500, 503])('is parsed to an unknown outcome if it has HTTP status %i', async (status) => {
    stubbedResponse = { status, body: refundRecordJson({ outcome: 'declined' }) };
    expect(await call()).toEqual({ kind: 'unknown' });
  });
});

test('status 404 means notFound for a query of a refund, and an unknown outcome for the refund call', async () => {
  stubbedResponse = { status: 404, body: '{}' };
  expect([await getRefundStatus(), await refund()]).toEqual([{ kind: 'notFound' }, { kind: 'unknown' }]);
});

test('the outcome of a refund is unknown when the acquirer cannot be reached', async () => {
  const unreachableClient = new SimulatedAcquirerClient('http://127.0.0.1:1', MAX_CONNECTIONS, SUPPORTS_LIVE_MODE);
  expect(await unreachableClient.refund(REFUND, new AbortController().signal)).toEqual({ kind: 'unknown' });
  await unreachableClient.onApplicationShutdown();
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
  const readStatement = (next?: string) => client.readStatement('2026-03-01', ACCOUNT, next);

  test('is read page by page', async () => {
    stubbedResponse = { status: 200, body: JSON.stringify({ lines: [line], next: 200 }) };
    const { key, currency, at, ...sameFields } = line;
    const lines = [{ ...sameFields, idempotencyKey: key, currencyISOCode: currency, movedUTCDate: at }];
    expect(await readStatement()).toEqual({ lines, next: '200' });
    stubbedResponse = { status: 200, body: JSON.stringify({ lines: [] }) };
    expect(await readStatement('200')).toEqual({ lines: [], next: undefined });
    expect(receivedRequests.map(({ request }) => request)).toEqual([
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
  ])('is rejected completely if one of its lines has an invalid %s (%j)', async (member, value) => {
    stubbedResponse = { status: 200, body: JSON.stringify({ lines: [line, { ...line, [member]: value }] }) };
    expect(await readStatement()).toBeUndefined();
  });

  test.each([
    [200, '{}'],
    [200, 'null'],
    [200, '<html>'],
    [503, JSON.stringify({ lines: [line] })],
  ])('is rejected if it has HTTP status %i and the body %s', async (status, body) => {
    stubbedResponse = { status, body };
    expect(await readStatement()).toBeUndefined();
  });
});

test('every call contains the mode, and every call contains the merchant account except the calls for stored cards', async () => {
  stubbedResponse = { status: 500, body: '{}' };
  await charge();
  await chargeVerified();
  await getChargeStatus();
  await reverse();
  await refund();
  await getRefundStatus();
  await client.readStatement('2026-03-01', ACCOUNT);
  await client.getChallengeState(VERIFICATION, ACCOUNT);
  await client.storeCard(CARD, 'live');
  await client.deleteCard({ vaultToken: 'v-1', vaultAccount: undefined }, 'live');
  expect(receivedRequests).toEqual(
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

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '@svc/service';
import { PaymentProcessorConfig } from '../config.js';
import { SimulatedAcquirerClient } from './simulated-acquirer.client.js';

let server: Server;
let client: SimulatedAcquirerClient;
let answer: { status: number; body: string };
const seen: { request: string; mode: unknown }[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push({ request: `${request.method} ${request.url}`, mode: request.headers['acquirer-mode'] });
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

const TERMS = {
  mode: 'live',
  idempotencyKey: 'key-1',
  paymentReference: 'p-1',
  amount: 100,
  currencyISOCode: 'ZAR',
} as const;
const CARD = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T', expiryMonth: 12, expiryYear: 2030 };
const charge = () =>
  client.charge({ ...TERMS, card: CARD, payerReturnUrl: 'https://pay.example' }, new AbortController().signal);
const chargeVerified = () =>
  client.chargeVerified({ ...TERMS, challengeReference: 'c-1' }, new AbortController().signal);
const ask = () => client.ask('key-1', 'live');
const reverse = () => client.reverse('key-1', 'live');

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

/** Answers with status 200 that do not say what happened. */
const UNCLEAR = [
  ['an outcome of another version', record({ outcome: 'pending' })],
  ['no outcome', record({})],
  ['a reversed key that says not whether it was charged', record({ outcome: 'reversed', charged: undefined })],
  ['a reversed key with another word for it', record({ outcome: 'reversed', charged: 'yes' })],
  ['an approval without a reference', JSON.stringify({ outcome: 'approved', charged: true })],
  ['a challenge without an address', record({ outcome: 'challenged', challenge: { reference: 'c' } })],
  ['nothing', 'null'],
  ['no JSON', '<html>'],
] as const;

describe.each([
  ['charge', charge],
  ['charge of a verified payer', chargeVerified],
  ['question', ask],
])('the answer to a %s', (_, call) => {
  test.each(OUTCOMES)('%s', async (body, outcome) => {
    answer = { status: 200, body };
    expect(await call()).toEqual(outcome);
  });

  test.each(UNCLEAR)('is unknown where it is %s', async (__, body) => {
    answer = { status: 200, body };
    expect(await call()).toEqual({ kind: 'unknown' });
  });

  test.each([201, 400, 500, 503])('is unknown with status %i', async (status) => {
    answer = { status, body: record({ outcome: 'declined' }) };
    expect(await call()).toEqual({ kind: 'unknown' });
  });
});

describe('the answer to a reversal', () => {
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
  ])('confirms nothing where it is %s', async (_, body) => {
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
])('the answer about a challenge, %s, means %s', async (body, state) => {
  answer = { status: 200, body };
  expect(await client.askChallenge('c-1', 'test')).toBe(state);
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

  test('is served only where that is configured, and test mode always', () => {
    const served = [from({}), from({ SVC_ENVIRONMENT: 'production' }), from({ SVC_ACQUIRER_LIVE: 'simulated' })].map(
      (acquirer) => [acquirer.serves('test'), acquirer.serves('live')],
    );
    expect(served).toEqual([
      [true, false],
      [true, false],
      [true, true],
    ]);
  });

  test('is never served by the simulated acquirer in production', () => {
    const production = { SVC_ACQUIRER_LIVE: 'simulated', SVC_ENVIRONMENT: 'production' };
    expect(() => from(production)).toThrow('SVC_ACQUIRER_LIVE=simulated is for development');
  });
});

test('the mode travels with every call', async () => {
  answer = { status: 500, body: '{}' };
  await charge();
  await chargeVerified();
  await ask();
  await reverse();
  await client.askChallenge('c-1', 'live');
  await client.storeCard(CARD, 'live');
  await client.forgetCard({ vaultToken: 'v-1' }, 'live');
  expect(seen).toEqual(
    [
      'POST /charges',
      'POST /charges',
      'GET /charges/key-1',
      'POST /charges/key-1/reversal',
      'GET /challenges/c-1/state',
      'POST /cards',
      'DELETE /cards/v-1',
    ].map((request) => ({ request, mode: 'live' })),
  );
});

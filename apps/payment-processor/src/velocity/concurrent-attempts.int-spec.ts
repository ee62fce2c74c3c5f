/** Two replicas accept and settle payments of the same cards, ranges and addresses at the same time (P11). */
import { randomUUID } from 'node:crypto';
import type { HostedPayableDescriptor } from '@svc/contracts';
import { newUuid } from '@svc/kernel';
import {
  acceptWith,
  APPROVED as APPROVED_END,
  DECLINED as DECLINED_END,
  startReplica,
  type TestReplica,
} from '../../test/attempts/shared-statements.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { APPROVED, DECLINED, LIMITS_ON, newCardNumber, readCounters } from '../../test/velocity/tested-cards.js';
import { attemptEndFor, CHARGEABLE_STATES } from '../payments/attempt.js';
import type { OpenAttempt } from '../payments/attempt.repository.js';
import { CardFingerprints } from './card-fingerprints.js';
import { RecentApprovals } from './recent-approvals.js';
import { VelocityChecks, type VelocityPayer } from './velocity-checks.js';
import { VelocityEnds } from './velocity-ends.js';

let processor: Processor;
let replicas: TestReplica[];
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
  replicas = [await startReplica(processor), await startReplica(processor)];
});
afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await processor.stop();
});
afterEach(() => processor.superuser.query('TRUNCATE velocity_counters, attacked_sites'));

const CHALLENGE = {
  kind: 'verificationRequired',
  challenge: { reference: 'c-1', url: 'https://bank.example/challenges/c-1' },
} as const;
const CHALLENGE_END = attemptEndFor(CHALLENGE);
const LATER = '2999-01-01T00:00:00.000Z';

/** Accepts a payment of a new session at one of the replicas. */
async function accept(
  nth: number,
  card: string,
  payable: HostedPayableDescriptor = buildPayable({ expiresAt: LATER }),
  payer: VelocityPayer = { address: '192.0.2.7' },
): Promise<OpenAttempt | undefined> {
  const { app } = processor.service;
  const fingerprint = app.get(CardFingerprints).ofCard('test', card);
  const checks = await app.get(VelocityChecks).build({ ...payable, payer }, fingerprint);
  return acceptWith(replicas[nth % 2]!.payments, processor, payable, { checks });
}

async function settle(
  nth: number,
  attempt: OpenAttempt,
  outcome: typeof APPROVED | typeof DECLINED | typeof CHALLENGE,
) {
  const end = { approved: APPROVED_END, declined: DECLINED_END, verificationRequired: CHALLENGE_END }[outcome.kind];
  const velocity = processor.service.app.get(VelocityEnds).buildForResponse(attempt, outcome);
  return replicas[nth % 2]!.payments.settle(attempt, end, CHARGEABLE_STATES, velocity);
}

const repeat = <T>(times: number, run: (nth: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, nth) => run(nth)));
const isAccepted = (attempt: OpenAttempt | undefined): attempt is OpenAttempt => attempt !== undefined;

test('a payment that loses its session to a concurrent payment frees its card', async () => {
  const card = newCardNumber();
  const payable = buildPayable({ expiresAt: LATER });
  const results = await Promise.allSettled(Array.from({ length: 3 }, () => processor.pay(payable, { card })));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const counters = await readCounters(processor);
  expect(counters.filter(({ inFlight }) => inFlight > 0)).toEqual([]);
});

test('of many simultaneous attempts with one card exactly four are accepted', async () => {
  for (let round = 1; round <= 10; round++) {
    const card = newCardNumber();
    const accepted = (await repeat(40, (nth) => accept(nth, card))).filter(isAccepted);
    expect(accepted).toHaveLength(4);
    await Promise.all(accepted.map((attempt, nth) => settle(nth, attempt, DECLINED)));
    expect((await repeat(8, (nth) => accept(nth, card))).filter(isAccepted)).toHaveLength(0);
  }
});

test('of many simultaneous cards of one range exactly ten are accepted, and no more after their declines', async () => {
  for (let round = 1; round <= 5; round++) {
    const newCard = () => newCardNumber(`5200${String(round).padStart(4, '0')}`);
    const accepted = (await repeat(40, (nth) => accept(nth, newCard()))).filter(isAccepted);
    expect(accepted).toHaveLength(10);
    await Promise.all(accepted.map((attempt, nth) => settle(nth, attempt, DECLINED)));
    expect((await repeat(8, (nth) => accept(nth, newCard()))).filter(isAccepted)).toHaveLength(0);
    await processor.superuser.query('TRUNCATE velocity_counters, attacked_sites');
  }
});

test('of many simultaneous cards of one partner exactly fifty are accepted', async () => {
  const payer = { organisationId: randomUUID() };
  const accepted = (await repeat(120, (nth) => accept(nth, newCardNumber(), undefined, payer))).filter(isAccepted);
  expect(accepted).toHaveLength(50);
});

test('payments of a range with regular trade do not wait for each other until half of its limit is used', async () => {
  const newCard = () => newCardNumber('53000002');
  const [first] = (await repeat(1, (nth) => accept(nth, newCard()))).filter(isAccepted);
  const range = first!.velocityKeys!.find((key) => key.startsWith('range:'))!;
  await settle(0, first!, APPROVED);
  for (let approvals = 1; approvals <= 400; approvals++) processor.service.app.get(RecentApprovals).add([range]);
  const accepted = (await repeat(20, (nth) => accept(nth, newCard()))).filter(isAccepted);
  expect(accepted).toHaveLength(20);
  expect((await readCounters(processor)).filter(({ scope }) => scope === 'range')).toEqual([]);
  const inFlight = Array.from({ length: 99 }, () => newUuid(processor.clock));
  await processor.superuser.query(
    `INSERT INTO velocity_counters (counter_key, in_flight, declined_at, approvals, declined_cards, expires_at)
     VALUES ($1, $2, array_fill($3::timestamptz, ARRAY[100]), array_fill(0, ARRAY[100]), array_fill(0, ARRAY[100]), '2999-01-01')`,
    [range, inFlight, processor.clock.now()],
  );
  await accept(0, newCard());
  expect(await readCounters(processor)).toContainEqual({ scope: 'range', inFlight: 99, declines: 100 });
  await processor.superuser.query(
    `UPDATE velocity_counters SET in_flight = in_flight || $2::uuid WHERE counter_key = $1`,
    [range, newUuid(processor.clock)],
  );
  await accept(0, newCard());
  expect(await readCounters(processor)).toContainEqual({ scope: 'range', inFlight: 101, declines: 100 });
});

test('open verifications of a card are still in flight', async () => {
  for (let round = 1; round <= 5; round++) {
    const card = newCardNumber();
    const accepted = (await repeat(40, (nth) => accept(nth, card))).filter(isAccepted);
    const [settled] = await Promise.all([
      Promise.all(accepted.map((attempt, nth) => settle(nth, attempt, CHALLENGE))),
      repeat(20, (nth) => accept(nth, card)).then((more) => expect(more.filter(isAccepted)).toEqual([])),
    ]);
    expect(settled.map((payment) => payment?.state)).toEqual(Array.from({ length: 4 }, () => 'verificationRequired'));
    expect((await repeat(20, (nth) => accept(nth, card))).filter(isAccepted)).toEqual([]);
  }
});

test('the last attempt of a card is accepted once', async () => {
  for (let round = 1; round <= 10; round++) {
    const card = newCardNumber();
    const declined = (await repeat(3, (nth) => accept(nth, card))).filter(isAccepted);
    await Promise.all(declined.map((attempt, nth) => settle(nth, attempt, DECLINED)));
    expect((await repeat(12, (nth) => accept(nth, card))).filter(isAccepted)).toHaveLength(1);
  }
});

test('two items of one batch with the same card count twice', async () => {
  const card = newCardNumber();
  const accepted = (await repeat(4, () => accept(0, card))).filter(isAccepted);
  expect(accepted).toHaveLength(4);
  expect(await readCounters(processor)).toEqual([
    { scope: 'card', inFlight: 4, declines: 0 },
    { scope: 'range', inFlight: 4, declines: 0 },
  ]);
  await Promise.all([
    ...accepted.slice(0, 2).map((attempt) => settle(0, attempt, DECLINED)),
    ...accepted.slice(2).map((attempt) => settle(0, attempt, APPROVED)),
  ]);
  expect(await readCounters(processor)).toContainEqual({ scope: 'card', inFlight: 0, declines: 2 });
});

test('a decline that two replicas report at the same time counts once', async () => {
  for (let round = 1; round <= 10; round++) {
    const attempt = (await accept(0, newCardNumber()))!;
    const settled = await repeat(4, (nth) => settle(nth, attempt, DECLINED));
    expect(settled.filter((payment) => payment !== undefined)).toHaveLength(1);
  }
  const counters = await readCounters(processor);
  expect(counters.filter(({ scope }) => scope === 'card')).toEqual(
    Array.from({ length: 10 }, () => ({ scope: 'card', inFlight: 0, declines: 1 })),
  );
});

test('payments with shared cards and addresses are accepted and settled without a deadlock, and no attempt stays in flight', async () => {
  await processor.superuser.query(`INSERT INTO attacked_sites VALUES ('test', 5001, 1001, 1, '2999-01-01', 1, now())`);
  const deadlocks = async (): Promise<number> => {
    const { rows } = await processor.superuser.query<{ deadlocks: string }>(
      `SELECT pg_stat_force_next_flush(), deadlocks FROM pg_stat_database WHERE datname = current_database()`,
    );
    return Number(rows[0]!.deadlocks);
  };
  const before = await deadlocks();
  const cards = Array.from({ length: 6 }, () => newCardNumber());
  for (let round = 1; round <= 20; round++) {
    const attempts = (
      await repeat(40, (nth) =>
        accept(nth, cards[(nth * 5 + round) % cards.length]!, undefined, { address: `192.0.2.${(nth * 3) % 7}` }),
      )
    ).filter(isAccepted);
    const [settled] = await Promise.all([
      Promise.all(attempts.map((attempt, nth) => settle(nth, attempt, nth % 4 === 0 ? DECLINED : APPROVED))),
      repeat(20, async (nth) => {
        const attempt = await accept(nth, cards[nth % cards.length]!, undefined, { address: `192.0.2.${nth % 7}` });
        return attempt && settle(nth + 1, attempt, APPROVED);
      }),
    ]);
    expect(settled.filter((payment) => payment === undefined)).toEqual([]);
    processor.clock.advance(3_600_000);
  }
  expect(await deadlocks()).toBe(before);
  const { rows } = await processor.superuser.query(
    `SELECT counter_key FROM velocity_counters WHERE in_flight && ARRAY(SELECT attempt_id FROM attempts WHERE ended_at IS NOT NULL)`,
  );
  expect(rows).toEqual([]);
});

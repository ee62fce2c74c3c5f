/**
 * One of two acquirers is stuck or unreachable. The payments, recoveries and refunds of the other one continue as before,
 * and no attempt of the first one is lost.
 */
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { GaugeReader, waitUntil } from '@svc/testing';
import { SecondAcquirer } from '../../test/acquirers/second-acquirer.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CleanupJob } from '../jobs/cleanup-job.js';
import { RecoverAttempts } from '../jobs/recover-attempts.js';
import { RecoverRefunds } from '../refunds/recover-refunds.js';
import { MerchantAccountRepository } from './merchant-account.repository.js';

const CONCURRENCY = 2;
const AT_SECOND = { merchantId: 82_001, siteId: 8201 };
const AT_BANK = { merchantId: 82_002, siteId: 8202 };

type Merchant = typeof AT_SECOND;
let metrics: GaugeReader;
let processor: Processor;
let second: SecondAcquirer;
beforeAll(async () => {
  metrics = GaugeReader.begin();
  second = new SecondAcquirer('test');
  processor = await startProcessor({ SVC_ACQUIRER_CONCURRENCY: String(CONCURRENCY) }, [second]);
  const account = { acquirer: 'second', accountReference: 'MID-2' };
  await processor.service.app
    .get(MerchantAccountRepository)
    .set(processor.dataSource.manager, AT_SECOND.merchantId, 'test', account, 'admin:test');
  for (const merchant of [AT_SECOND, AT_BANK]) await createMerchant(processor, merchant, merchant.siteId);
});
afterAll(async () => {
  second.respondToAll();
  await processor.stop();
  metrics.end();
});
afterEach(async () => {
  jest.restoreAllMocks();
  second.behaviour = 'responds';
  second.respondToAll();
  // The next charge is a probe, whose response closes the circuit.
  processor.clock.advance(60_000);
  expect((await pay(AT_SECOND)).state).toBe('success');
  await processor.recoverAttempts();
  await processor.recoverRefunds();
  second.calls.splice(0);
});

const expiresAt = (): string => processor.clock.later(60_000).toISOString();
const payable = (merchant: Merchant) => buildPayable({ ...merchant, expiresAt: expiresAt() });
const invoice = (merchant: Merchant) => openInvoice(processor, { ...merchant, expiresAt: expiresAt() });
const pay = (merchant: Merchant): Promise<HostedPaymentSnapshot> => processor.pay(payable(merchant));
const payAll = (merchant: Merchant, number: number): Promise<HostedPaymentSnapshot>[] =>
  Array.from({ length: number }, () => pay(merchant));
const waitForStuckCalls = (number: number): Promise<unknown> =>
  waitUntil(`${number} stuck calls`, 5_000, () => Promise.resolve(second.stuckCount === number));
const readGauge = async (name: string): Promise<unknown[]> =>
  (await metrics.read(name)).map(({ value, attributes }) => [attributes['acquirer'], attributes['mode'], value]);
/** Lets five charges fail, which opens the circuit of the second acquirer. */
async function openCircuit(): Promise<HostedPaymentSnapshot[]> {
  second.behaviour = 'unreachable';
  const payments: HostedPaymentSnapshot[] = [];
  for (let failure = 1; failure <= 5; failure++) payments.push(await pay(AT_SECOND));
  second.calls.splice(0);
  return payments;
}

describe('while one acquirer is stuck,', () => {
  test('the payments of the other one need no permit of the stuck one', async () => {
    second.behaviour = 'stuck';
    const stuckPayments = payAll(AT_SECOND, CONCURRENCY + 1);
    await waitForStuckCalls(CONCURRENCY);
    await waitUntil('a waiting charge', 5_000, async () =>
      (await readGauge('svc.acquirer.permits.waiting')).some((gauge) => String(gauge) === 'second,test,1'),
    );
    expect((await Promise.all(payAll(AT_BANK, 10))).map(({ state }) => state)).toEqual(Array(10).fill('success'));
    expect(second.stuckCount).toBe(CONCURRENCY);
    const used = await readGauge('svc.acquirer.permits.used');
    expect(used.toSorted()).toEqual([
      ['second', 'test', CONCURRENCY],
      ['simulated', 'test', 0],
    ]);
    second.behaviour = 'responds';
    second.respondToAll();
    const states = (await Promise.all(stuckPayments)).map(({ state }) => state).toSorted();
    expect(states).toEqual(['processing', 'processing', 'success']);
  });

  test('the recovery of the other one’s attempts continues', async () => {
    second.nextOutcome = { kind: 'unknown' };
    await pay(AT_SECOND);
    const lost = payable(AT_BANK);
    await processor.pay(lost, { card: CARDS.responseLost });
    processor.clock.advance(2_000);
    second.behaviour = 'stuck';
    const recovery = processor.service.app.get(RecoverAttempts);
    const stuckStep = recovery.runStep('second');
    await waitForStuckCalls(1);
    expect(await recovery.runStep('simulated')).toBe(1);
    expect(await processor.pollPayments(lost)).toMatchObject([{ state: 'success' }]);
    second.respondToAll();
    expect(await stuckStep).toBe(1);
  });

  test('the reversals and verifications of the other one continue', async () => {
    const cleanup = processor.service.app.get(CleanupJob);
    const partner = await createPartner(processor);
    second.nextOutcome = {
      kind: 'verificationRequired',
      challenge: { reference: 'challenge-1', url: 'https://second.example/1' },
    };
    const card = {
      cardNumber: CARDS.verificationRequired,
      cvv: '123',
      holderName: 'T',
      expiryMonth: 12,
      expiryYear: 2030,
    };
    const verificationUrls: string[] = [];
    for (const merchant of [AT_SECOND, AT_BANK]) {
      const { body } = await partner.pay(await invoice(merchant), { paymentMethod: { card } });
      verificationUrls.push(body.verificationUrl as string);
    }
    await processor.answerChallenge({ verificationUrl: verificationUrls[1]! }, 'confirm');
    second.nextOutcome = { kind: 'declined', reason: 'card.declined', acquirerReference: 'd-1' };
    for (const merchant of [AT_SECOND, AT_BANK])
      await requestReversal(await processor.pay(payable(merchant), { card: CARDS.declined }));

    second.behaviour = 'stuck';
    const stuckStep = cleanup.runStepOf('second');
    await waitForStuckCalls(1);
    const reverseAtBank = jest.spyOn(processor.acquirer, 'reverse');
    expect(await cleanup.runStepOf('simulated')).toBe(1);
    expect(reverseAtBank).toHaveBeenCalledTimes(1);
    const states = await processor.dataSource.query<{ state: string }[]>(
      `SELECT p.state FROM verifications v JOIN payments p ON p.payment_id = v.payment_id ORDER BY p.state`,
    );
    expect(states.map(({ state }) => state)).toEqual(['success', 'verificationRequired']);
    second.behaviour = 'responds';
    second.respondToAll();
    expect(await stuckStep).toBe(1);
    expect(second.keysOf('reverse')).toHaveLength(1);
  });

  /** Requests the reversal of a charge, as a late approval does. */
  async function requestReversal({ paymentReference }: HostedPaymentSnapshot): Promise<void> {
    await processor.superuser.query(
      `INSERT INTO reversals (attempt_id, requested_at, next_request_at, holds_money, approval_seen)
       SELECT a.attempt_id, $2, $2, true, true FROM attempts a JOIN payments p ON p.payment_id = a.payment_id WHERE p.payment_reference = $1`,
      [paymentReference, processor.clock.now()],
    );
  }

  test('the refunds of the other one, and their recovery, continue', async () => {
    const [ofSecond, ofBank] = [
      await createRefundClient(processor, AT_SECOND),
      await createRefundClient(processor, AT_BANK),
    ];
    const [atSecond, atBank] = [await pay(AT_SECOND), await pay(AT_BANK)];
    second.behaviour = 'stuck';
    // 20 is the limit of concurrent refunds.
    const stuckRefunds = Array.from({ length: 21 }, () => ofSecond.refund(atSecond.paymentReference));
    await waitForStuckCalls(20);
    expect(await ofBank.refund(atBank.paymentReference)).toMatchObject({ status: 201, body: { status: 'succeeded' } });

    jest.spyOn(processor.acquirer, 'refund').mockResolvedValue({ kind: 'unknown' });
    const poll = jest.spyOn(processor.acquirer, 'getRefundStatus').mockResolvedValue({ kind: 'unknown' });
    const pendingRefund = ofBank.refund(atBank.paymentReference);
    await waitUntil('a query about the refund', 5_000, () => Promise.resolve(poll.mock.calls.length > 0));
    // The client stops waiting, because its own queries would end the refund before the recovery.
    processor.clock.advance(20_000);
    expect(await pendingRefund).toMatchObject({ status: 202, body: { status: 'pending' } });
    jest.restoreAllMocks();
    const recovery = processor.service.app.get(RecoverRefunds);
    const stuckStep = recovery.runStep('second');
    await waitForStuckCalls(41);
    expect(await recovery.runStep('simulated')).toBe(1);
    expect((await ofBank.list(atBank.paymentReference)).body).toMatchObject([
      { status: 'succeeded' },
      { status: 'succeeded' },
    ]);
    second.behaviour = 'responds';
    second.respondToAll();
    await stuckStep;
    processor.clock.advance(300_000);
    await Promise.all(stuckRefunds);
    await processor.recoverRefunds();
    const { body } = await ofSecond.list(atSecond.paymentReference);
    expect((body as unknown as { status: string }[]).map(({ status }) => status)).toEqual(Array(21).fill('succeeded'));
  });
});

describe('while one acquirer is unreachable,', () => {
  test('its circuit opens: payments fail with 30 at once and without a call, also those that waited for a permit', async () => {
    second.behaviour = 'stuck';
    const unanswered = payAll(AT_SECOND, CONCURRENCY);
    await waitForStuckCalls(CONCURRENCY);
    const waiting = payAll(AT_SECOND, 3);
    // The payments of the circuit's threshold get no permit while all permits are in use.
    second.behaviour = 'unreachable';
    second.respondToAll();
    await Promise.all([...unanswered, ...waiting]);
    second.calls.splice(0);
    const refused = await Promise.all(payAll(AT_SECOND, 3));
    expect(refused).toMatchObject(
      Array(3).fill({ state: 'failed', errors: [{ errorReference: '30' }], payable: { state: 'open' } }),
    );
    expect(second.calls).toEqual([]);
    expect((await pay(AT_BANK)).state).toBe('success');
    const circuits = await readGauge('svc.acquirer.circuit.open');
    expect(circuits.toSorted()).toEqual([
      ['second', 'test', 1],
      ['simulated', 'test', 0],
    ]);
  });

  test('no attempt is lost: those without an outcome are still queried and recovered', async () => {
    second.nextOutcome = { kind: 'unknown' };
    const lost = payable(AT_SECOND);
    await processor.pay(lost);
    await openCircuit();
    second.behaviour = 'responds';
    expect(await processor.pollPayments(lost)).toMatchObject([{ state: 'success' }]);
  });

  test('one probe after another tests it, and the first response closes the circuit', async () => {
    await openCircuit();
    processor.clock.advance(5_000);
    expect((await Promise.all(payAll(AT_SECOND, 3))).map(({ state }) => state)).toEqual(Array(3).fill('failed'));
    expect(second.calls).toHaveLength(1);
    second.behaviour = 'responds';
    expect((await pay(AT_SECOND)).state).toBe('failed');
    processor.clock.advance(10_000);
    expect((await pay(AT_SECOND)).state).toBe('success');
    expect((await Promise.all(payAll(AT_SECOND, 3))).map(({ state }) => state)).toEqual(Array(3).fill('success'));
    expect(await readGauge('svc.acquirer.circuit.open')).toContainEqual(['second', 'test', 0]);
  });

  test('a passed verification waits until the circuit closes, so that the payer need not repeat it', async () => {
    const toVerify = payable(AT_SECOND);
    second.nextOutcome = {
      kind: 'verificationRequired',
      challenge: { reference: 'challenge-1', url: 'https://second.example/1' },
    };
    await processor.pay(toVerify);
    await openCircuit();
    second.behaviour = 'responds';
    second.challengeState = 'passed';
    expect(await processor.pollPayments(toVerify)).toMatchObject([{ state: 'verificationRequired' }]);
    expect(second.keysOf('chargeVerified')).toEqual([]);
    processor.clock.advance(5_000);
    expect(await processor.pollPayments(toVerify)).toMatchObject([{ state: 'success' }]);
  });

  test('a partner’s payment fails with 30 at once', async () => {
    const partner = await createPartner(processor);
    await openCircuit();
    expect(await partner.pay(await invoice(AT_SECOND))).toMatchObject({
      status: 201,
      body: { status: 'failed', errors: [{ errorReference: '30' }] },
    });
    expect(second.calls).toEqual([]);
  });
});

/** Numbers of charges by acquirer, mode and outcome, and of measured durations. */
async function readCounts(): Promise<Record<string, number>> {
  const charges = await metrics.read('svc.acquirer.charges');
  const durations = await metrics.read('svc.acquirer.charge.duration');
  return Object.fromEntries([
    ...charges.map(({ value, attributes: { acquirer, mode, outcome } }) => [
      [acquirer, mode, outcome].join(' '),
      value as number,
    ]),
    ...durations.map(({ value, attributes: { acquirer, mode } }) => [
      ['durations of', acquirer, mode].join(' '),
      (value as { count: number }).count,
    ]),
  ]) as Record<string, number>;
}

test('charges are measured by acquirer, mode and outcome; charges without a call have no duration', async () => {
  const before = await readCounts();
  await processor.pay(payable(AT_BANK), { card: CARDS.declined });
  await pay(AT_BANK);
  await openCircuit();
  await pay(AT_SECOND);
  const after = await readCounts();
  const added = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]);
  expect(Object.fromEntries(added.filter(([, count]) => count !== 0))).toEqual({
    'simulated test declined': 1,
    'simulated test approved': 1,
    'second test notAttempted': 5,
    'second test circuitOpen': 1,
    'durations of simulated test': 2,
    'durations of second test': 5,
  });
});

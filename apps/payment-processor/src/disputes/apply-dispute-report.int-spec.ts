import { randomUUID } from 'node:crypto';
import { DisputeChangedV1, type DisputedPayment, type HostedPaymentSnapshot } from '@svc/contracts';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import fc from 'fast-check';
import { startReplica } from '../../test/attempts/shared-statements.js';
import { readLedger } from '../../test/books/ledger.js';
import { buildPayable } from '../../test/builders.js';
import { TestDispute } from '../../test/disputes.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { ReconciledMerchant } from '../../test/reconciled-rows.js';
import type { DisputeReport, DisputeReportKind } from '../acquirers/dispute-report.js';
import { ApplyDisputeReport } from './apply-dispute-report.js';
import { DisputeRepository } from './dispute.repository.js';

let processor: Processor;
let payment: HostedPaymentSnapshot;
let dispute: TestDispute;
let merchantId = 110_000;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
afterAll(() => processor.stop());
beforeEach(async () => {
  payment = await processor.pay(buildPayable({ merchantId: ++merchantId }));
  dispute = new TestDispute(processor, payment);
});

const PAYABLE = () => `test:merchant:${merchantId}:payable`;
const RECEIVABLE = 'test:acquirer:simulated:receivable';
const debit = (amount: number) => ({ kind: 'dispute', debit: PAYABLE(), credit: RECEIVABLE, amount });
const reversal = (amount: number) => ({ kind: 'disputeReversal', debit: RECEIVABLE, credit: PAYABLE(), amount });
const readDisputeTransfers = async (of: Pick<HostedPaymentSnapshot, 'paymentReference'> = payment) =>
  (await readLedger(processor, of)).filter(({ kind }) => kind.startsWith('dispute'));
const readEvents = async (of: Pick<HostedPaymentSnapshot, 'paymentReference'> = payment): Promise<DisputedPayment[]> =>
  (await processor.published(DisputeChangedV1))
    .map(({ payload }) => payload)
    .filter(({ paymentReference }) => paymentReference === of.paymentReference);
const readRows = (table: 'disputes' | 'dispute_reports' | 'dispute_changes'): Promise<Record<string, unknown>[]> =>
  processor.dataSource.query(
    `SELECT t.* FROM ${table} t JOIN disputes d ON d.dispute_id = t.dispute_id JOIN payments p ON p.payment_id = d.payment_id
      WHERE p.payment_reference = $1 ORDER BY t.dispute_id, ${table === 'dispute_reports' ? 'received_at, report_id' : 't.version'}`,
    [payment.paymentReference],
  );
const readIncidents = (reportReference: string): Promise<Record<string, unknown>[]> =>
  processor.dataSource.query(
    `SELECT problem, dispute_reference, report, occurrences, first_seen_at, last_seen_at FROM dispute_incidents WHERE report_reference = $1`,
    [reportReference],
  );
async function readAttemptId(): Promise<string> {
  const [row] = await processor.dataSource.query<{ attemptId: string }[]>(
    `SELECT attempt_id AS "attemptId" FROM attempts JOIN payments USING (payment_id) WHERE payment_reference = $1`,
    [payment.paymentReference],
  );
  return row!.attemptId;
}

describe('a dispute (M8)', () => {
  test('is debited, reversed, debited again and lost: each movement is booked once, and each change is an event', async () => {
    const respondBy = processor.clock.later(86_400_000);
    const steps: [DisputeReportKind, Partial<DisputeReport>, unknown][] = [
      ['inquiry', {}, { stage: 'inquiry', amount: 10_000 }],
      ['opened', { amount: 12_000, respondBy }, { stage: 'opened', amount: 12_000 }],
      ['debited', { amount: 12_000, respondBy }, { stage: 'debited', amount: 12_000 }],
      ['reversed', { amount: 11_000 }, { stage: 'reversed', amount: 12_000 }],
      ['debitedAgain', { amount: 9_000 }, { stage: 'debited', amount: 9_000 }],
      ['lost', { amount: 9_000 }, { stage: 'lost', amount: 9_000 }],
    ];
    const createdUTCDate = processor.clock.nowISO();
    const times: string[] = [];
    for (const [kind, overrides] of steps) {
      times.push(processor.clock.nowISO());
      expect(await dispute.report(kind, overrides)).toEqual({ kind: 'record', problems: [] });
      processor.clock.advance(1_000);
    }
    expect(await readDisputeTransfers()).toEqual([debit(12_000), reversal(11_000), debit(9_000)]);
    const { payable: _, ...unchanged } = payment;
    const [row] = await readRows('disputes');
    const changes = await readRows('dispute_changes');
    expect(await readEvents()).toEqual(
      steps.map(([kind, , fields], nth) => ({
        ...unchanged,
        payable: expect.anything() as unknown,
        dispute: {
          ...(fields as object),
          disputeReference: row!['dispute_id'],
          reason: '10.4 Other Fraud-Card Absent Environment',
          ...(kind === 'opened' || kind === 'debited' ? { respondByUTCDate: respondBy.toISOString() } : {}),
          createdUTCDate,
          changeReference: changes[nth]!['change_id'],
          changedUTCDate: times[nth],
        },
      })),
    );
    expect(row).toMatchObject({ stage: 'lost', version: 6, respond_by: null, acquirer: 'simulated', mode: 'test' });
    expect((await readRows('dispute_reports')).map((report) => [report['kind'], report['booked_at'] !== null])).toEqual(
      steps.map(([kind]) => [kind, ['debited', 'reversed', 'debitedAgain'].includes(kind)]),
    );
  });

  test('has the versions of its events, and a report without a visible change has none', async () => {
    await dispute.report('won', { occurredAt: processor.clock.later(60_000) });
    await dispute.report('debited');
    await dispute.report('commented', { reason: { code: '10.5' }, occurredAt: processor.clock.later(120_000) });
    const events = (await processor.published(DisputeChangedV1)).filter(
      ({ payload }) => payload.paymentReference === payment.paymentReference,
    );
    expect(events.map(({ aggregateVersion, payload }) => [aggregateVersion, payload.dispute.reason])).toEqual([
      [1, '10.4 Other Fraud-Card Absent Environment'],
      [2, '10.5'],
    ]);
    expect(await readDisputeTransfers()).toEqual([debit(10_000)]);
  });

  test('can be more than what refunds have left of the charge', async () => {
    const backOffice = await createRefundClient(processor, { merchantId });
    expect((await backOffice.refund(payment.paymentReference, { amount: 12_000 })).status).toBe(201);
    expect(await dispute.report('debited', { amount: 12_345 })).toMatchObject({ kind: 'record' });
    expect(await readDisputeTransfers()).toEqual([debit(12_345)]);
  });

  test('can be about the charge of an attempt, and several disputes can be about one charge', async () => {
    const charge = { idempotencyKey: await readAttemptId() };
    await dispute.report('debited', { charge, amount: 100 });
    await new TestDispute(processor, payment).report('debited', { charge, amount: 200 });
    expect(await readDisputeTransfers()).toEqual([debit(100), debit(200)]);
  });

  test('of a live payment is booked in the live accounts', async () => {
    const live = await processor.pay(buildPayable({ merchantId, mode: 'live' }));
    await new TestDispute(processor, live).report('debited');
    expect((await readDisputeTransfers(live)).map((transfer) => [transfer.debit, transfer.credit])).toEqual([
      [`live:merchant:${merchantId}:payable`, 'live:acquirer:simulated:receivable'],
    ]);
  });

  test('has references of its own in each mode', async () => {
    const live = await processor.pay(buildPayable({ merchantId, mode: 'live' }));
    await dispute.report('debited');
    const sameReferences = { mode: 'live', charge: { paymentReference: live.paymentReference } } as const;
    expect(await dispute.report('debited', sameReferences)).toEqual({ kind: 'record', problems: [] });
    expect([await readDisputeTransfers(), await readDisputeTransfers(live)]).toMatchObject([
      [{ debit: `test:merchant:${merchantId}:payable` }],
      [{ debit: `live:merchant:${merchantId}:payable` }],
    ]);
  });

  test('is about the approved charge of a payment that has a declined one too', async () => {
    const [row] = await processor.dataSource.query<[{ payment_id: string }]>(
      `SELECT payment_id FROM payments WHERE payment_reference = $1`,
      [payment.paymentReference],
    );
    const stored = { paymentId: row.payment_id, paymentReference: payment.paymentReference };
    await new ReconciledMerchant(processor).insertAttempt(stored, { state: 'declined' });
    // A new version of the row of the approved attempt is stored after the declined one.
    await processor.dataSource.query(`UPDATE attempts SET queries = 1 WHERE payment_id = $1 AND state = 'approved'`, [
      row.payment_id,
    ]);
    expect(await dispute.report('debited')).toEqual({ kind: 'record', problems: [] });
  });

  test('keeps the payment unchanged (M8)', async () => {
    const readPayment = () =>
      processor.dataSource.query('SELECT * FROM payments WHERE payment_reference = $1', [payment.paymentReference]);
    const before: unknown = await readPayment();
    await dispute.report('debited');
    expect(await readPayment()).toEqual(before);
  });
});

describe('a reversal that arrives before its chargeback', () => {
  test('is booked together with the chargeback, in the order of the movements', async () => {
    await dispute.report('debitedAgain', { amount: 7_000 });
    await dispute.report('reversed', { amount: 8_000 });
    expect(await readDisputeTransfers()).toEqual([]);
    await dispute.report('debited', { amount: 9_000 });
    expect(await readDisputeTransfers()).toEqual([debit(9_000), reversal(8_000), debit(7_000)]);
    expect((await readEvents()).map(({ dispute: { stage, amount } }) => [stage, amount])).toEqual([['debited', 7_000]]);
  });

  test('and is higher than the chargeback is never booked, and is an incident of the reversal', async () => {
    await dispute.report('reversed', { amount: 9_001 });
    expect(await dispute.report('debited', { amount: 9_000 })).toEqual({
      kind: 'record',
      problems: ['exceedsPreviousMovement'],
    });
    expect(await readDisputeTransfers()).toEqual([debit(9_000)]);
    expect(await readIncidents(dispute.build('reversed').reportReference)).toMatchObject([
      { problem: 'exceedsPreviousMovement', occurrences: 1 },
    ]);
  });
});

describe('a repeated report', () => {
  test('changes nothing, also with other content', async () => {
    await dispute.report('debited');
    expect(await dispute.report('debited')).toEqual({ kind: 'none', problems: [] });
    expect(await dispute.report('debited', { kind: 'lost', amount: 1 })).toEqual({ kind: 'none', problems: [] });
    expect(await readDisputeTransfers()).toEqual([debit(10_000)]);
    expect(await readEvents()).toHaveLength(1);
    expect(await readRows('dispute_reports')).toHaveLength(1);
  });

  test('changes nothing when replicas apply it at the same time', async () => {
    const replicas = [await startReplica(processor), await startReplica(processor)];
    const log = processor.service.app.get<ServiceLog>(SERVICE_LOG);
    const useCases = replicas.map(
      ({ dataSource, events }) =>
        new ApplyDisputeReport(dataSource, new DisputeRepository(events, processor.clock), log),
    );
    try {
      for (const kind of ['debited', 'reversed', 'debitedAgain'] as const) {
        const results = await Promise.all(
          Array.from({ length: 12 }, (_, nth) => useCases[nth % 2]!.execute(dispute.build(kind))),
        );
        expect(results.map((result) => result.kind).toSorted()).toEqual([...Array<string>(11).fill('none'), 'record']);
      }
      expect(await readDisputeTransfers()).toEqual([debit(10_000), reversal(10_000), debit(10_000)]);
      expect(await readEvents()).toHaveLength(3);
    } finally {
      for (const replica of replicas) await replica.stop();
    }
  });

  test('changes nothing when all reports arrive at the same time, in any order', async () => {
    const kinds = ['opened', 'debited', 'reversed', 'debitedAgain', 'lost'] as const;
    await Promise.all([...kinds, ...kinds.toReversed()].map((kind) => dispute.report(kind)));
    const transfers = await readDisputeTransfers();
    expect(transfers).toEqual([debit(10_000), reversal(10_000), debit(10_000)]);
    expect(await readRows('disputes')).toMatchObject([{ stage: 'lost' }]);
  });

  test('of two charges at the same time is a report of the first one, and an incident of the other one', async () => {
    const other = await processor.pay(buildPayable({ merchantId }));
    const charges = [payment, other].map(({ paymentReference }) => ({ charge: { paymentReference } }));
    const results = await Promise.all(charges.map((charge) => dispute.report('debited', charge)));
    // The problem has the name of the constraint or of the check that finds it, depending on the time of the first commit.
    expect(results.flatMap(({ problems }) => problems)).toEqual([
      expect.stringMatching(/^(disputeOfOtherCharge|reportOfOtherDispute)$/),
    ]);
    expect([...(await readDisputeTransfers()), ...(await readDisputeTransfers(other))]).toEqual([debit(10_000)]);
  });
});

test('any order of the reports leads to the same dispute and the same transfers', async () => {
  const kinds = ['inquiry', 'opened', 'debited', 'defended', 'reversed', 'debitedAgain', 'lost'] as const;
  const read = async (reports: readonly (typeof kinds)[number][]) => {
    const paid = await processor.pay(buildPayable({ merchantId }));
    const disputed = new TestDispute(processor, paid);
    const occurredAt = (kind: (typeof kinds)[number]) => new Date(Date.UTC(2026, 2, 1, kinds.indexOf(kind)));
    for (const kind of reports)
      await disputed.report(kind, { occurredAt: occurredAt(kind), amount: 9_000 - kinds.indexOf(kind) });
    const [row] = await processor.dataSource.query<unknown[]>(
      `SELECT stage, amount, reason, respond_by FROM disputes WHERE acquirer_reference = $1`,
      [disputed.disputeReference],
    );
    return { row, transfers: await readDisputeTransfers(paid) };
  };
  const expected = await read(kinds);
  expect(expected.transfers).toEqual([debit(8_998), reversal(8_996), debit(8_995)]);
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...kinds, ...kinds], { minLength: 2 * kinds.length }), async (reports) =>
      expect(await read(reports)).toEqual(expected),
    ),
    { numRuns: 15 },
  );
});

describe('an impossible report', () => {
  const impossible: [string, (of: TestDispute) => Partial<DisputeReport>][] = [
    ['invalidReport', () => ({ amount: 0 })],
    ['invalidReport', () => ({ amount: 1.5 })],
    ['invalidReport', () => ({ amount: 100_000_000_001 })],
    ['invalidReport', () => ({ disputeReference: '' })],
    ['invalidReport', () => ({ disputeReference: 'x'.repeat(101) })],
    ['invalidReport', () => ({ disputeReference: 'a\u0000b' })],
    ['invalidReport', () => ({ charge: { paymentReference: '' } })],
    ['invalidReport', () => ({ occurredAt: new Date(NaN) })],
    ['invalidReport', () => ({ respondBy: new Date(8.64e15) })],
    ['unknownCharge', () => ({ charge: { paymentReference: 'unknown' } })],
    ['unknownCharge', () => ({ charge: { idempotencyKey: 'no UUID' } })],
    ['unknownCharge', () => ({ charge: { idempotencyKey: randomUUID() } })],
    ['unknownCharge', () => ({ acquirer: 'other' })],
    ['unknownCharge', () => ({ mode: 'live' })],
    [
      'otherCharge',
      ({ payment: { paymentReference } }) => ({ charge: { paymentReference, acquirerReference: 'another' } }),
    ],
    ['otherCurrency', () => ({ currencyISOCode: 'EUR' })],
    ['amountExceedsCharge', () => ({ amount: 12_346 })],
  ];

  test.each(impossible)('is an incident %s, and does nothing else', async (problem, overridesOf) => {
    const overrides = overridesOf(dispute);
    const logSpy = jest.spyOn(processor.service.app.get<ServiceLog>(SERVICE_LOG), 'error');
    const firstSeen = processor.clock.now();
    expect(await dispute.report('debited', overrides)).toEqual({ kind: 'incident', problems: [problem] });
    processor.clock.advance(1_000);
    expect(await dispute.report('debited', overrides)).toEqual({ kind: 'incident', problems: [problem] });
    expect(await readIncidents(dispute.build('debited').reportReference)).toEqual([
      {
        problem,
        dispute_reference: expect.any(String) as string,
        report: expect.stringContaining('"debited"') as string,
        occurrences: 2,
        first_seen_at: firstSeen,
        last_seen_at: processor.clock.now(),
      },
    ]);
    expect(logSpy.mock.calls.map(([fields]) => fields)).toEqual(
      Array(2).fill(expect.objectContaining({ problem, kind: 'debited' })),
    );
    jest.restoreAllMocks();
    expect(await readDisputeTransfers()).toEqual([]);
    expect(await readEvents()).toEqual([]);
    expect(await readRows('disputes')).toEqual([]);
    // The report that is corrected is applied.
    expect(await dispute.report('debited')).toMatchObject({ kind: 'record' });
  });

  test.each([{ acquirer: 'other' }, { mode: 'live' }] as const)(
    'is one about the charge of an attempt with another acquirer or mode: %j',
    async (fields) => {
      const charge = { idempotencyKey: await readAttemptId() };
      expect(await dispute.report('debited', { ...fields, charge })).toMatchObject({ problems: ['unknownCharge'] });
    },
  );

  test('is one about a charge that was declined', async () => {
    const declined = await processor.pay(buildPayable({ merchantId }), { card: CARDS.declined });
    expect(await new TestDispute(processor, declined).report('debited')).toMatchObject({ problems: ['notCharged'] });
    const [{ attemptId }] = await processor.dataSource.query<[{ attemptId: string }]>(
      `SELECT attempt_id AS "attemptId" FROM attempts JOIN payments USING (payment_id) WHERE payment_reference = $1`,
      [declined.paymentReference],
    );
    const charge = { idempotencyKey: attemptId };
    expect(await new TestDispute(processor, declined).report('debited', { charge })).toMatchObject({
      problems: ['notCharged'],
    });
  });

  test('is one about another charge than the earlier reports of its dispute', async () => {
    const { paymentReference } = await processor.pay(buildPayable({ merchantId }));
    await dispute.report('opened');
    expect(await dispute.report('debited', { charge: { paymentReference } })).toMatchObject({
      problems: ['disputeOfOtherCharge'],
    });
    expect(await readDisputeTransfers({ paymentReference })).toEqual([]);
  });

  test('is one with the reference of a report about another dispute', async () => {
    await dispute.report('debited');
    const { reportReference } = dispute.build('debited');
    expect(await new TestDispute(processor, payment).report('debited', { reportReference })).toMatchObject({
      problems: ['reportOfOtherDispute'],
    });
    expect(await readDisputeTransfers()).toEqual([debit(10_000)]);
  });

  test('is a second chargeback with another reference than the first one', async () => {
    await dispute.report('debited');
    expect(await dispute.report('debited', { reportReference: randomUUID() })).toMatchObject({
      problems: ['repeatedMovement'],
    });
    expect(await readDisputeTransfers()).toEqual([debit(10_000)]);
  });

  test('has a bounded row, however long its texts are', async () => {
    const reportReference = 'r'.repeat(5_000);
    await dispute.report('debited', { reportReference, reason: { text: 'x\u0000'.repeat(5_000) } });
    const [incident] = await readIncidents('r'.repeat(100));
    expect(incident!['report']).toHaveLength(2_000);
  });
});

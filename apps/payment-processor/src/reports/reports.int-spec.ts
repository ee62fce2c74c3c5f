import { PaymentReversedV1, RefundFailedV1, RefundSucceededV1 } from '@svc/contracts';
import { GaugeReader, waitUntil } from '@svc/testing';
import fc from 'fast-check';
import { SeparateAcquirer } from '../../test/acquirers/separate-acquirer.js';
import { readLedger } from '../../test/books/ledger.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';

const metrics = GaugeReader.begin();
let processor: Processor;
let acquirer: SeparateAcquirer;
beforeEach(async () => {
  processor = await startProcessor();
  acquirer = new SeparateAcquirer(processor);
});
afterEach(() => processor.stop());
afterAll(() => metrics.end());

const APPROVED = { kind: 'charge', outcome: { kind: 'approved' }, amount: 12_345, currencyISOCode: 'ZAR' } as const;
const DECLINED = { ...APPROVED, outcome: { kind: 'declined', reason: 'card.declined' } } as const;

const readPayment = async ({ paymentReference }: { paymentReference: string }): Promise<unknown> => {
  const [row] = await processor.dataSource.query<unknown[]>(
    `SELECT p.state AS payment, y.state AS payable,
            (SELECT string_agg(a.state, ' ' ORDER BY a.state DESC) FROM attempts a WHERE a.payment_id = p.payment_id) AS attempts
       FROM payments p JOIN payables y USING (payable_id) WHERE p.payment_reference = $1`,
    [paymentReference],
  );
  return row;
};
const payWithLostResponse = (payable = buildPayable()) => processor.pay(payable, { card: CARDS.responseLost });

describe('a report about a charge', () => {
  test.each([
    [APPROVED, { payment: 'success', payable: 'paid', attempts: 'approved' }],
    [DECLINED, { payment: 'failed', payable: 'open', attempts: 'declined' }],
  ])('decides a payment whose response was lost: %j', async (report, expected) => {
    const payment = await payWithLostResponse();
    expect(payment.state).toBe('processing');
    expect(await acquirer.reportPayment(payment, report)).toBe('applied');
    expect(await readPayment(payment)).toEqual(expected);
    expect(await acquirer.reportPayment(payment, report)).toBe('none');
  });

  test('may arrive before the response to the charge', async () => {
    const charge = acquirer.acquirer.charge.bind(acquirer.acquirer);
    acquirer.acquirer.charge = async (request, signal) => {
      const outcome = await charge(request, signal);
      await acquirer.report({ ...APPROVED, paymentReference: request.paymentReference });
      return outcome;
    };
    const payment = await processor.pay(buildPayable());
    expect(payment.state).toBe('success');
    expect(await acquirer.requestCaptures()).toBe(1);
  });

  test('that is the same as the response changes nothing, and one that contradicts it is an incident', async () => {
    const payment = await processor.pay(buildPayable());
    const [{ acquirerReference }] = await processor.dataSource.query<[{ acquirerReference: string }]>(
      `SELECT acquirer_reference AS "acquirerReference" FROM attempts`,
    );
    expect(await acquirer.reportPayment(payment, { ...APPROVED, acquirerReference })).toBe('none');
    expect(await acquirer.reportPayment(payment, { ...DECLINED, acquirerReference })).toBe('incident');
    expect(await acquirer.reportPayment(payment, { ...APPROVED, acquirerReference: 'another' })).toBe('incident');
    expect(await readPayment(payment)).toMatchObject({ payment: 'success', attempts: 'approved' });
    expect(await processor.dataSource.query(`SELECT attempt_state, response FROM incidents ORDER BY 2`)).toEqual([
      { attempt_state: 'approved', response: 'approved' },
      { attempt_state: 'approved', response: 'declined' },
    ]);
  });

  test.each([
    ['another amount', { amount: 12_344 }, 'incident'],
    ['another currency', { currencyISOCode: 'USD' }, 'incident'],
    ['another account', { accountReference: 'merchant-1002' }, 'ignored'],
    ['another mode', { mode: 'live' as const }, 'ignored'],
    ['another acquirer', { acquirer: 'other' }, 'ignored'],
    ['an unknown payment', { paymentReference: 'x' }, 'ignored'],
  ])('with %s changes nothing', async (_, difference, effect) => {
    const payment = await payWithLostResponse();
    expect(await acquirer.reportPayment(payment, { ...APPROVED, ...difference })).toBe(effect);
    expect(await readPayment(payment)).toEqual({ payment: 'processing', payable: 'reserved', attempts: 'unknown' });
  });
});

describe('an attempt without a response and without a report', () => {
  test('is abandoned after 15 minutes: the payment fails with the error 31, the payable is free, and the charge is released until the acquirer confirms it', async () => {
    const payable = buildPayable();
    const payment = await payWithLostResponse(payable);
    processor.clock.advance(900_000);
    await processor.recoverAttempts();
    expect(await readPayment(payment)).toEqual({ payment: 'failed', payable: 'open', attempts: 'notAttempted' });
    const [polled] = await processor.pollPayments(payable);
    expect(polled?.errors).toMatchObject([{ errorReference: '31' }]);
    expect(
      await processor.pay({ ...payable, expiresAt: '2026-03-02T00:00:00.000Z' }, { paymentNumber: 2 }),
    ).toMatchObject({ state: 'success' });

    await processor.runCleanup();
    processor.clock.advance(30_000);
    await processor.runCleanup();
    expect(acquirer.reversals.map(({ paymentReference }) => paymentReference)).toEqual([
      payment.paymentReference,
      payment.paymentReference,
    ]);
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'notFound' })).toBe('applied');
    processor.clock.advance(86_400_000);
    expect(await processor.runCleanup()).toBe(0);
    expect(await processor.published(PaymentReversedV1)).toEqual([]);
    expect(await readLedger(processor, payment)).toEqual([]);
  });

  test('whose decline is reported later is no longer released, and an approval after that is released again', async () => {
    const payment = await payWithLostResponse();
    processor.clock.advance(900_000);
    await processor.recoverAttempts();
    await processor.runCleanup();
    expect(await acquirer.reportPayment(payment, DECLINED)).toBe('applied');
    expect(await acquirer.reportPayment(payment, DECLINED)).toBe('none');
    processor.clock.advance(86_400_000);
    expect(await processor.runCleanup()).toBe(0);
    expect(acquirer.reversals).toHaveLength(1);
    expect(await readPayment(payment)).toMatchObject({ payment: 'failed', attempts: 'notAttempted' });
    expect(await acquirer.reportPayment(payment, APPROVED)).toBe('incident');
    expect(await processor.runCleanup()).toBe(1);
    // An approval is known, so a repeated decline does not end this release.
    expect(await acquirer.reportPayment(payment, DECLINED)).toBe('none');
    processor.clock.advance(86_400_000);
    expect(await processor.runCleanup()).toBe(1);
  });

  test('whose approval is reported later is released, recorded and notified, and books no money', async () => {
    const payment = await payWithLostResponse();
    processor.clock.advance(900_000);
    await processor.recoverAttempts();
    await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'notFound' });
    await acquirer.reportPayment(payment, APPROVED);
    expect(await processor.runCleanup()).toBe(1);
    // The acquirer sent this report before it received the charge.
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'notFound' })).toBe('none');
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('applied');
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('none');
    expect(await readPayment(payment)).toMatchObject({ payment: 'failed', attempts: 'reversed' });
    expect(await processor.published(PaymentReversedV1)).toHaveLength(1);
    expect(await readLedger(processor, payment)).toEqual([]);
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'notFound' })).toBe('none');
  });

  test('is released and notified only once when its approval is reported after the release', async () => {
    const payment = await payWithLostResponse();
    processor.clock.advance(900_000);
    await processor.recoverAttempts();
    await processor.runCleanup();
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('applied');
    await acquirer.reportPayment(payment, APPROVED);
    processor.clock.advance(3_600_000);
    expect(await processor.runCleanup()).toBe(0);
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('none');
    expect(await processor.published(PaymentReversedV1)).toHaveLength(1);
  });

  test('whose release is requested again after a late approval is overdue a day after that', async () => {
    const payment = await payWithLostResponse();
    processor.clock.advance(900_000);
    await processor.recoverAttempts();
    await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'notFound' });
    processor.clock.advance(2 * 86_400_000);
    await acquirer.reportPayment(payment, APPROVED);
    const readUnconfirmed = () =>
      processor.dataSource.query(`SELECT response FROM incidents WHERE response = 'unconfirmed'`);
    await processor.runCleanup();
    expect(await readUnconfirmed()).toEqual([]);
    processor.clock.advance(86_400_000);
    await processor.runCleanup();
    expect(await readUnconfirmed()).toHaveLength(1);
  });

  test('whose release is not confirmed for a day is an incident', async () => {
    const payment = await payWithLostResponse();
    processor.clock.advance(900_000);
    await processor.recoverAttempts();
    await processor.runCleanup();
    processor.clock.advance(86_399_000);
    await processor.runCleanup();
    const readIncidents = () =>
      processor.dataSource.query(`SELECT response FROM incidents WHERE response = 'unconfirmed'`);
    const countIncidents = async (): Promise<unknown> => (await metrics.read('svc.reversals.incidents'))[0]?.value ?? 0;
    const before = await countIncidents();
    expect(await readIncidents()).toEqual([]);
    processor.clock.advance(3_600_000);
    await processor.runCleanup();
    expect(await readIncidents()).toHaveLength(1);
    expect(await countIncidents()).toBe(Number(before) + 1);
    expect(await readPayment(payment)).toMatchObject({ payment: 'failed' });
  });
});

test('an approval that is reported while the payer is at the bank waits, and is then the approval of the verified charge', async () => {
  const payable = buildPayable();
  const payment = await processor.pay(payable, { card: CARDS.verificationRequired });
  expect(payment.state).toBe('verificationRequired');
  expect(await acquirer.reportPayment(payment, APPROVED)).toBeNull();
  await processor.answerChallenge(payment, 'confirm');
  expect(await processor.pollPayments(payable)).toMatchObject([{ state: 'success' }]);
  processor.clock.advance(1_000);
  await acquirer.applyReports();
  expect(await readPayment(payment)).toMatchObject({ payment: 'success', attempts: 'notAttempted approved' });
  expect(await processor.runCleanup()).toBe(0);
});

test('an approval of an abandoned verification is released after the payment has failed', async () => {
  const payment = await processor.pay(buildPayable(), { card: CARDS.verificationRequired });
  await acquirer.reportPayment(payment, APPROVED);
  processor.clock.advance(900_000);
  await processor.runCleanup();
  await acquirer.applyReports();
  await processor.runCleanup();
  expect(acquirer.reversals).toMatchObject([{ paymentReference: payment.paymentReference }]);
});

test('a report about a capture waits for the approval, and is an incident for a payment that failed', async () => {
  const payment = await payWithLostResponse();
  expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' })).toBeNull();
  await acquirer.reportPayment(payment, APPROVED);
  processor.clock.advance(1_000);
  await acquirer.applyReports();
  expect(await processor.dataSource.query(`SELECT state FROM captures`)).toEqual([{ state: 'captured' }]);

  const declined = await processor.pay(buildPayable(), { card: CARDS.declined });
  const reports = [
    [{ kind: 'capture', outcome: 'captured' }, 'The acquirer has captured a payment that failed.'],
    [{ kind: 'capture', outcome: 'failed' }, 'The acquirer reports a failed capture of a payment that failed.'],
    [{ kind: 'reversal', outcome: 'reversed' }, 'The acquirer has released a charge without a request.'],
    [{ kind: 'reversal', outcome: 'notFound' }, 'The acquirer has found no charge to release, without a request.'],
  ] as const;
  for (const [report, note] of reports) {
    expect(await acquirer.reportPayment(declined, report)).toBe('incident');
    expect(
      await processor.dataSource.query(
        `SELECT note FROM acquirer_reports WHERE effect = 'incident' AND report ->> 'outcome' = $1`,
        [report.outcome],
      ),
    ).toEqual([{ note }]);
  }
});

test('a release that was not requested is an incident, and an unknown or irrelevant report is kept and counted', async () => {
  const payment = await processor.pay(buildPayable());
  expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('incident');
  expect(await acquirer.report({ kind: 'refund', refundId: 'x', outcome: 'succeeded' })).toBe('ignored');
  expect(await acquirer.report({ kind: 'ignored', reason: 'Nothing that concerns a payment.' })).toBe('ignored');
  expect(await readPayment(payment)).toMatchObject({ payment: 'success', attempts: 'approved' });
});

describe('a report about a dispute', () => {
  const reportDispute = (paymentReference: string, overrides: object = {}) =>
    acquirer.report({
      kind: 'dispute',
      acquirerReference: 'dispute-1',
      dispute: {
        ...{ acquirer: 'simulated', mode: 'test', reportReference: 'dispute-1-debited', disputeReference: 'dispute-1' },
        ...{ charge: { paymentReference }, kind: 'debited', amount: 12_345, currencyISOCode: 'ZAR', reason: {} },
        occurredUTCDate: processor.clock.nowISO(),
      },
      ...overrides,
    });
  const readDisputes = (): Promise<unknown[]> =>
    processor.dataSource.query(
      `SELECT d.stage, (SELECT count(*)::int FROM transfers t WHERE t.kind = 'dispute') AS transfers FROM disputes d`,
    );
  const readProblems = (): Promise<unknown[]> => processor.dataSource.query(`SELECT problem FROM dispute_incidents`);

  test('of a captured charge is booked', async () => {
    const payment = await processor.pay(buildPayable());
    await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });
    expect(await reportDispute(payment.paymentReference)).toBe('applied');
    expect(await readDisputes()).toEqual([{ stage: 'debited', transfers: 1 }]);
  });

  test.each(['refused', 'failed'] as const)(
    'of a charge whose capture is %s is an incident and books nothing',
    async (outcome) => {
      const payment = await processor.pay(buildPayable());
      await acquirer.reportPayment(payment, { kind: 'capture', outcome });
      expect(await reportDispute(payment.paymentReference)).toBe('incident');
      expect(await readDisputes()).toEqual([]);
      expect(await readProblems()).toEqual([{ problem: 'notCharged' }]);
    },
  );

  test.each([
    ['account', { accountReference: 'merchant-1002' }],
    ['mode', { mode: 'live' }],
    ['acquirer', { acquirer: 'other' }],
  ])('of another %s is kept and books nothing', async (_, overrides) => {
    const payment = await processor.pay(buildPayable());
    expect(await reportDispute(payment.paymentReference, overrides)).toBe('ignored');
    expect(await readDisputes()).toEqual([]);
    expect(await readProblems()).toEqual([]);
  });
});

describe('the reports of a refund, in any order and repeated,', () => {
  const outcomes = ['succeeded', 'returned'] as const;

  test('lead to the same rows, ledger and notifications', async () => {
    const backOffice = await createRefundClient(processor, { merchantId: 1001 });
    const orders = fc.sample(fc.array(fc.constantFrom(...outcomes), { minLength: 1, maxLength: 4 }), {
      numRuns: 12,
      seed: 7,
    });
    for (const order of [...orders, ['returned', 'succeeded'] as const]) {
      const payment = await processor.pay(buildPayable());
      await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });
      const response = backOffice.refund(payment.paymentReference, { amount: 345 });
      const refundId = await waitForRefund(payment.paymentReference);
      for (const outcome of order) await acquirer.report({ kind: 'refund', refundId, outcome });
      await response;
      const isReturned = order.includes('returned');
      expect(await readRefundOf(payment.paymentReference)).toEqual({
        state: isReturned ? 'failed' : 'succeeded',
        refunded: isReturned ? 0 : 345,
        pending: 0,
      });
      expect((await readLedger(processor, payment)).map(({ kind }) => kind)).toEqual([
        'capture',
        'refund',
        ...(isReturned ? ['refundReturn'] : []),
      ]);
      expect(
        (await processor.published(RefundSucceededV1)).filter(({ aggregateId }) => aggregateId === refundId),
      ).toHaveLength(1);
      expect(
        (await processor.published(RefundFailedV1)).filter(({ aggregateId }) => aggregateId === refundId),
      ).toHaveLength(isReturned ? 1 : 0);
    }
  });

  const waitForRefund = (paymentReference: string): Promise<string> =>
    waitUntil('the refund', 5_000, async () => {
      const [row] = await processor.dataSource.query<{ id: string }[]>(
        `SELECT r.refund_id AS id FROM refunds r JOIN payments p USING (payment_id) WHERE p.payment_reference = $1 AND r.acquirer_reference IS NOT NULL`,
        [paymentReference],
      );
      return row?.id ?? false;
    });
  const readRefundOf = async (paymentReference: string): Promise<unknown> => {
    const [row] = await processor.dataSource.query<unknown[]>(
      `SELECT r.state, p.refunded_amount AS refunded, p.refund_pending_amount AS pending
         FROM refunds r JOIN payments p USING (payment_id) WHERE p.payment_reference = $1`,
      [paymentReference],
    );
    return row;
  };
});

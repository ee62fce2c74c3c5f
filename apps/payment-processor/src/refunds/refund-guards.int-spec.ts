/**
 * Tests each condition that protects refunds, in a statement or in the schema. In each test exactly one condition is
 * false.
 */
import { randomUUID } from 'node:crypto';
import { httpClient } from '@svc/testing';
import { changeRow } from '../../test/attempts/open-attempt.js';
import { readRefundRecords } from '../../test/books/refund-books.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { REFUND_TRANSITIONS } from './refund.js';
import { type NewRefund, type PaymentToRefund, RefundRepository } from './refund.repository.js';

let processor: Processor;
let refunds: RefundRepository;
let backOffice: RefundClient;
let merchantId = 92_000;
beforeAll(async () => {
  processor = await startProcessor();
  refunds = processor.service.app.get(RefundRepository);
});
afterAll(() => processor.stop());
beforeEach(async () => {
  backOffice = await createRefundClient(processor, { merchantId: ++merchantId });
});

const owner = () => ({ merchantId, mode: 'test', siteId: undefined }) as const;
async function createPaidPayment(
  card: string = CARDS.approved,
  overrides: Parameters<typeof buildPayable>[0] = {},
): Promise<PaymentToRefund> {
  const { paymentReference } = await processor.pay(buildPayable({ merchantId, ...overrides }), { card });
  return (await refunds.findPayment(owner(), paymentReference))!;
}
const buildNewRefund = (payment: PaymentToRefund, overrides: Partial<NewRefund> = {}): NewRefund => ({
  ...{ owner: owner(), payment, amount: 100, reason: undefined },
  ...{ idempotencyKey: randomUUID(), fingerprint: 'f'.repeat(64), requestedBy: randomUUID() },
  ...overrides,
});
const runSql = (text: string, parameters: unknown[]): Promise<unknown> => processor.dataSource.query(text, parameters);

describe('a refund', () => {
  // Each change happens after the payment was read.
  test.each([
    ['the succeeded refunds leave less than its amount', `refunded_amount = 12246`],
    ['the pending refunds leave less than its amount', `refund_pending_amount = 12246`],
    [
      'succeeded and pending refunds together leave less than its amount',
      `refunded_amount = 12000, refund_pending_amount = 246`,
    ],
  ])('is not created if %s', async (_, change) => {
    const payment = await createPaidPayment();
    await changeRow(processor, `UPDATE payments SET ${change} WHERE payment_id = $1`, payment.paymentId);
    expect(await refunds.create(buildNewRefund(payment))).toBeUndefined();
    expect((await readRefundRecords(processor, payment.paymentReference)).refunds).toEqual([]);
    expect(await refunds.create(buildNewRefund(payment, { amount: 99 }))).toMatchObject({ amount: 99 });
  });

  test('is not created if another refund, which was not known, leaves less of the limit of the person', async () => {
    const payment = await createPaidPayment();
    const limited = (amount: number) => refunds.create(buildNewRefund(payment, { amount, maxRefundedAmount: 1_000 }));
    const created = await Promise.all([limited(600), limited(600)]);
    expect(created.filter((refund) => refund !== undefined)).toHaveLength(1);
    expect([await limited(401), await limited(400)]).toMatchObject([undefined, { amount: 400 }]);
    expect(await refunds.create(buildNewRefund(payment))).toMatchObject({ amount: 100 });
  });

  test('is not created if the payment did not succeed', async () => {
    const payment = await createPaidPayment();
    const { paymentReference } = await processor.pay(buildPayable({ merchantId }), { card: CARDS.declined });
    const failed = (await refunds.findPayment(owner(), paymentReference))!;
    expect(failed.charge).toBeUndefined();
    expect(await refunds.create(buildNewRefund({ ...failed, charge: payment.charge }))).toBeUndefined();
  });

  test('is not created if another refund has the same key, and its amount is not reserved', async () => {
    const [payment, otherPayment] = [await createPaidPayment(), await createPaidPayment()];
    const { idempotencyKey } = buildNewRefund(payment);
    await refunds.create(buildNewRefund(payment, { idempotencyKey }));
    await expect(refunds.create(buildNewRefund(otherPayment, { idempotencyKey }))).rejects.toMatchObject({
      driverError: { constraint: 'refund_idempotency_keys_pkey' },
    });
    expect(await readRefundRecords(processor, otherPayment.paymentReference)).toMatchObject({
      pending: 0,
      refunds: [],
    });
  });
});

describe('the database schema', () => {
  const violatedConstraint = (change: Promise<unknown>): Promise<string> =>
    change.then(
      () => 'none',
      ({ driverError }: { driverError: { constraint: string } }) => driverError.constraint,
    );

  test.each([
    'refunded_amount = 12346',
    'refund_pending_amount = 12346',
    'refunded_amount = -1',
    'refund_pending_amount = -1',
  ])('rejects a payment with %s', async (change) => {
    const { paymentId } = await createPaidPayment();
    const update = runSql(`UPDATE payments SET ${change} WHERE payment_id = $1`, [paymentId]);
    expect(await violatedConstraint(update)).toBe('payments_refunds');
  });

  test('rejects every transition that is not in REFUND_TRANSITIONS, and a change of the amount', async () => {
    const payment = await createPaidPayment();
    const allowed: string[] = [];
    for (const from of Object.keys(REFUND_TRANSITIONS))
      for (const to of Object.keys(REFUND_TRANSITIONS)) {
        const { refundId } = (await refunds.create(buildNewRefund(payment, { amount: 1 })))!;
        const set = `UPDATE refunds SET state = $2, ended_at = CASE WHEN $2 <> 'pending' THEN now() END,
                            next_query_at = CASE WHEN $2 = 'pending' THEN now() END WHERE refund_id = $1`;
        if (from !== 'pending') await runSql(set, [refundId, from]);
        const isReturn = from === 'succeeded' && to === 'failed';
        const change = isReturn ? `UPDATE refunds SET state = $2, returned_at = now() WHERE refund_id = $1` : set;
        if ((await violatedConstraint(runSql(change, [refundId, to]))) === 'none' && from !== to)
          allowed.push(`${from} → ${to}`);
      }
    const listedTransitions = Object.entries(REFUND_TRANSITIONS).flatMap(([from, next]) =>
      next.map((to) => `${from} → ${to}`),
    );
    expect(allowed.toSorted()).toEqual(listedTransitions.toSorted());
    const { refundId } = (await refunds.create(buildNewRefund(payment)))!;
    expect(await violatedConstraint(runSql(`UPDATE refunds SET amount = 1 WHERE refund_id = $1`, [refundId]))).toBe(
      'refunds_transition',
    );
  });

  test('rejects a second transfer of a refund, and a transfer of another kind', async () => {
    const payment = await createPaidPayment();
    const { body } = await backOffice.refund(payment.paymentReference);
    const insert = `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, payment_id, created_at, refund_id, mode, merchant_id)
                    SELECT gen_random_uuid(), $2, debit_account, credit_account, amount, currency, payment_id, created_at, refund_id, mode, merchant_id
                      FROM transfers WHERE refund_id = $1`;
    expect(await violatedConstraint(runSql(insert, [body.refundReference, 'refund']))).toBe(
      'transfers_once_for_refund',
    );
    expect(await violatedConstraint(runSql(insert, [body.refundReference, 'external']))).toBe('transfers_refund');
  });
});

describe('a polling client', () => {
  const leaseForPoll = (refundId: string) => refunds.leaseForPoll(refundId, processor.clock.later(-1_000));

  test('queries a pending refund at most once a second', async () => {
    const { refundId } = (await refunds.create(buildNewRefund(await createPaidPayment())))!;
    expect(await leaseForPoll(refundId)).toMatchObject({ refundId });
    expect(await leaseForPoll(refundId)).toBeUndefined();
    processor.clock.advance(999);
    expect(await leaseForPoll(refundId)).toBeUndefined();
    processor.clock.advance(1);
    expect(await leaseForPoll(refundId)).toMatchObject({ refundId, acquirer: 'simulated', currencyISOCode: 'ZAR' });
  });

  test('queries a refund in the currency of its own payable', async () => {
    for (const currencyISOCode of ['ZAR', 'NAD']) {
      const payment = await createPaidPayment(CARDS.approved, { currencyISOCode });
      const { refundId } = (await refunds.create(buildNewRefund(payment)))!;
      expect(await leaseForPoll(refundId)).toMatchObject({ refundId, currencyISOCode });
    }
  });

  test('does not query an ended refund', async () => {
    const payment = await createPaidPayment();
    const { body } = await backOffice.refund(payment.paymentReference);
    expect(await leaseForPoll(body.refundReference)).toBeUndefined();
  });
});

describe('the refund list for administrators', () => {
  let admin: ReturnType<typeof httpClient>;
  beforeAll(() => {
    const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
    admin = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
  });

  test('contains the refunds of a payment with all fields', async () => {
    const payment = await createPaidPayment();
    await createPaidPayment();
    processor.clock.advance(1);
    const { body } = await backOffice.refund(payment.paymentReference, { amount: 345, reason: 'broken' });
    const response = await admin('GET', `/admin/v1/refunds?svcId=${payment.paymentReference.toLowerCase()}`);
    expect(response.body.refunds).toEqual([
      {
        ...body,
        ...{ merchantId, siteId: 5001, mode: 'test', currencyISOCode: 'ZAR', reason: 'broken', acquirer: 'simulated' },
        acquirerReference: expect.any(String),
        endedUTCDate: processor.clock.nowISO(),
        ...{ queries: 0, incidents: 0 },
      },
    ]);
    const newest = await admin('GET', '/admin/v1/refunds');
    expect(newest.body.refunds[0]).toMatchObject({ refundReference: body.refundReference });
  });

  test('contains the pending refunds, oldest first', async () => {
    const payment = await createPaidPayment();
    const first = (await refunds.create(buildNewRefund(payment)))!;
    processor.clock.advance(1);
    const second = (await refunds.create(buildNewRefund(payment)))!;
    await refunds.settle(second, { kind: 'unknown' });
    const { body } = await admin('GET', '/admin/v1/refunds?state=pending');
    const references = (body.refunds as { refundReference: string; status: string }[]).map(
      (refund) => refund.refundReference,
    );
    expect(references.indexOf(first.refundId)).toBeGreaterThanOrEqual(0);
    expect(references.indexOf(second.refundId)).toBeGreaterThan(references.indexOf(first.refundId));
    expect(new Set((body.refunds as { status: string }[]).map(({ status }) => status))).toEqual(new Set(['pending']));
  });

  test('rejects invalid parameters, and calls without the administration key', async () => {
    expect((await admin('GET', '/admin/v1/refunds?state=failed')).status).toBe(400);
    expect((await admin('GET', '/admin/v1/refunds?svcId=x&svcId=y')).status).toBe(400);
    expect((await admin('GET', '/admin/v1/refunds?svcId=x&state=pending')).status).toBe(400);
    expect((await admin('GET', '/admin/v1/refunds?svcId=nothing')).body).toEqual({ refunds: [] });
    expect((await httpClient(processor.service)('GET', '/admin/v1/refunds')).status).toBe(401);
  });
});

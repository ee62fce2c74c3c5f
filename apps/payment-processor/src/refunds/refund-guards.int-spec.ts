/** Each condition that guards refunds, in a statement or in the schema, with only this condition false. */
import { randomUUID } from 'node:crypto';
import { httpClient } from '@svc/testing';
import { tamper } from '../../test/attempts/open-attempt.js';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { booksOf } from '../../test/refund-books.js';
import { PaymentProcessorConfig } from '../config.js';
import { REFUND_TRANSITIONS } from './refund.js';
import { type NewRefund, type PaymentToRefund, RefundRepository } from './refund.repository.js';

let processor: Processor;
let refunds: RefundRepository;
let office: RefundClient;
let merchantId = 92_000;
beforeAll(async () => {
  processor = await startProcessor();
  refunds = processor.service.app.get(RefundRepository);
});
afterAll(() => processor.stop());
beforeEach(async () => {
  office = await aRefundClient(processor, { merchantId: ++merchantId });
});

const owner = () => ({ merchantId, mode: 'test', siteId: undefined }) as const;
async function aPaid(card: string = CARDS.approved): Promise<PaymentToRefund> {
  const { paymentReference } = await processor.pay(aPayable({ merchantId }), { card });
  return (await refunds.findPayment(owner(), paymentReference))!;
}
const wanted = (payment: PaymentToRefund, over: Partial<NewRefund> = {}): NewRefund => ({
  ...{ owner: owner(), payment, amount: 100, reason: undefined },
  ...{ idempotencyKey: randomUUID(), fingerprint: 'f'.repeat(64), requestedBy: randomUUID() },
  ...over,
});
const sql = (text: string, parameters: unknown[]): Promise<unknown> => processor.dataSource.query(text, parameters);

describe('a decision is rejected without a record', () => {
  test.each([
    ['where refunds that have ended leave less', `refunded_amount = 12246`],
    ['where pending refunds leave less', `refund_pending_amount = 12246`],
    ['where both together leave less', `refunded_amount = 12000, refund_pending_amount = 246`],
  ])('%s, although the payment was read before', async (_, change) => {
    const payment = await aPaid();
    await tamper(processor, `UPDATE payments SET ${change} WHERE payment_id = $1`, payment.paymentId);
    expect(await refunds.create(wanted(payment))).toBeUndefined();
    expect((await booksOf(processor, payment.paymentReference)).refunds).toEqual([]);
    expect(await refunds.create(wanted(payment, { amount: 99 }))).toMatchObject({ amount: 99 });
  });

  test('if the payment did not succeed', async () => {
    const payment = await aPaid();
    const { paymentReference } = await processor.pay(aPayable({ merchantId }), { card: CARDS.declined });
    const failed = (await refunds.findPayment(owner(), paymentReference))!;
    expect(failed.charge).toBeUndefined();
    expect(await refunds.create(wanted({ ...failed, charge: payment.charge }))).toBeUndefined();
  });

  test('when another refund has its key: neither refund nor reservation is stored', async () => {
    const [payment, other] = [await aPaid(), await aPaid()];
    const { idempotencyKey } = wanted(payment);
    await refunds.create(wanted(payment, { idempotencyKey }));
    await expect(refunds.create(wanted(other, { idempotencyKey }))).rejects.toMatchObject({
      driverError: { constraint: 'refund_idempotency_keys_pkey' },
    });
    expect(await booksOf(processor, other.paymentReference)).toMatchObject({ pending: 0, refunds: [] });
  });
});

describe('the schema rejects', () => {
  const constraintOf = (change: Promise<unknown>): Promise<string> =>
    change.then(
      () => 'none',
      ({ driverError }: { driverError: { constraint: string } }) => driverError.constraint,
    );

  test.each([
    'refunded_amount = 12346',
    'refund_pending_amount = 12346',
    'refunded_amount = -1',
    'refund_pending_amount = -1',
  ])('a payment with %s', async (change) => {
    const { paymentId } = await aPaid();
    const changed = sql(`UPDATE payments SET ${change} WHERE payment_id = $1`, [paymentId]);
    expect(await constraintOf(changed)).toBe('payments_refunds');
  });

  test('every unlisted transition of a refund, and a changed amount', async () => {
    const payment = await aPaid();
    const allowed: string[] = [];
    for (const from of Object.keys(REFUND_TRANSITIONS))
      for (const to of Object.keys(REFUND_TRANSITIONS)) {
        const { refundId } = (await refunds.create(wanted(payment, { amount: 1 })))!;
        const set = `UPDATE refunds SET state = $2, ended_at = CASE WHEN $2 <> 'pending' THEN now() END,
                            next_ask_at = CASE WHEN $2 = 'pending' THEN now() END WHERE refund_id = $1`;
        if (from !== 'pending') await sql(set, [refundId, from]);
        if ((await constraintOf(sql(set, [refundId, to]))) === 'none' && from !== to) allowed.push(`${from} → ${to}`);
      }
    const listed = Object.entries(REFUND_TRANSITIONS).flatMap(([from, next]) => next.map((to) => `${from} → ${to}`));
    expect(allowed.toSorted()).toEqual(listed.toSorted());
    const { refundId } = (await refunds.create(wanted(payment)))!;
    expect(await constraintOf(sql(`UPDATE refunds SET amount = 1 WHERE refund_id = $1`, [refundId]))).toBe(
      'refunds_transition',
    );
  });

  test('a second transfer of a refund, and a transfer of another kind', async () => {
    const payment = await aPaid();
    const { body } = await office.refund(payment.paymentReference);
    const insert = `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, payment_id, created_at, refund_id, mode, merchant_id)
                    SELECT gen_random_uuid(), $2, debit_account, credit_account, amount, currency, payment_id, created_at, refund_id, mode, merchant_id
                      FROM transfers WHERE refund_id = $1`;
    expect(await constraintOf(sql(insert, [body.refundReference, 'refund']))).toBe('transfers_one_refund');
    expect(await constraintOf(sql(insert, [body.refundReference, 'external']))).toBe('transfers_refund');
  });
});

describe('a client that waits', () => {
  const claim = (refundId: string) => refunds.leaseForPoll(refundId, processor.clock.later(-1_000));

  test('queries a pending refund at most once a second', async () => {
    const { refundId } = (await refunds.create(wanted(await aPaid())))!;
    expect(await claim(refundId)).toMatchObject({ refundId });
    expect(await claim(refundId)).toBeUndefined();
    processor.clock.advance(999);
    expect(await claim(refundId)).toBeUndefined();
    processor.clock.advance(1);
    expect(await claim(refundId)).toMatchObject({ refundId, acquirer: 'simulated', currencyISOCode: 'ZAR' });
  });

  test('does not query an ended refund', async () => {
    const payment = await aPaid();
    const { body } = await office.refund(payment.paymentReference);
    expect(await claim(body.refundReference)).toBeUndefined();
  });
});

describe('the list for administrators', () => {
  let admin: ReturnType<typeof httpClient>;
  beforeAll(() => {
    const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
    admin = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
  });

  test('has the refunds of a payment with all fields', async () => {
    const payment = await aPaid();
    await aPaid();
    processor.clock.advance(1);
    const { body } = await office.refund(payment.paymentReference, { amount: 345, reason: 'broken' });
    const listed = await admin('GET', `/admin/v1/refunds?svcId=${payment.paymentReference.toLowerCase()}`);
    expect(listed.body.refunds).toEqual([
      {
        ...body,
        ...{ merchantId, siteId: 5001, mode: 'test', reason: 'broken', acquirer: 'simulated' },
        acquirerReference: expect.any(String),
        endedUTCDate: processor.clock.nowISO(),
        ...{ asked: 0, incidents: 0 },
      },
    ]);
    const newest = await admin('GET', '/admin/v1/refunds');
    expect(newest.body.refunds[0]).toMatchObject({ refundReference: body.refundReference });
  });

  test('has the pending refunds, oldest first', async () => {
    const payment = await aPaid();
    const first = (await refunds.create(wanted(payment)))!;
    processor.clock.advance(1);
    const second = (await refunds.create(wanted(payment)))!;
    await refunds.settle(second, { kind: 'unknown' });
    const { body } = await admin('GET', '/admin/v1/refunds?state=pending');
    const references = (body.refunds as { refundReference: string; status: string }[]).map(
      (one) => one.refundReference,
    );
    expect(references.indexOf(first.refundId)).toBeGreaterThanOrEqual(0);
    expect(references.indexOf(second.refundId)).toBeGreaterThan(references.indexOf(first.refundId));
    expect(new Set((body.refunds as { status: string }[]).map(({ status }) => status))).toEqual(new Set(['pending']));
  });

  test('rejects other states, and needs the administration key', async () => {
    expect((await admin('GET', '/admin/v1/refunds?state=failed')).status).toBe(400);
    expect((await admin('GET', '/admin/v1/refunds?svcId=x&svcId=y')).status).toBe(400);
    expect((await admin('GET', '/admin/v1/refunds?svcId=x&state=pending')).status).toBe(400);
    expect((await admin('GET', '/admin/v1/refunds?svcId=nothing')).body).toEqual({ refunds: [] });
    expect((await httpClient(processor.service)('GET', '/admin/v1/refunds')).status).toBe(401);
  });
});

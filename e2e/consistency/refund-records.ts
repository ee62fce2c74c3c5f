/** Reads how the acquirer and payment-processor have recorded the refunds of a payment. Amounts are in cents. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PartnerClient } from '@svc/sdk';
import { PATIENCE, waitUntil } from '@svc/testing';
import { createInvoice } from '../callers/till.js';
import type { Platform } from '../platform/platform.js';

export const APPROVED = '4242424242424242';
/** The test acquirer refunds a payment with this card, but closes the connection without a response. */
export const REFUND_DROPS_THE_ANSWER = '4000000000007262';
export const PAID_AMOUNT = 12_345;
/** Timeout of a call. The SDK accepts at most 120 seconds. */
export const CALL_TIMEOUT_MS = Math.min(25_000 * PATIENCE, 120_000);

/** Pays an invoice of the first demo site; returns the payment's reference. */
export async function payForRefund(platform: Platform, cardNumber = APPROVED): Promise<string> {
  const { apiUrl, partner } = platform.demo;
  const { service } = new PartnerClient({ apiUrl, ...partner, timeoutMs: CALL_TIMEOUT_MS });
  const card = { cardNumber, cvv: '123', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2035 };
  const { code } = await createInvoice(platform, { amount: PAID_AMOUNT });
  const paid = await service.pay({ code, amount: PAID_AMOUNT, customer: { id: randomUUID() }, card });
  if (paid.status !== 'success') throw new Error(`The payment is ${paid.status}.`);
  return paid.paymentReference;
}

export interface AcquirerRefund {
  readonly refundKey: string;
  readonly paymentReference: string;
  readonly amount: number;
  readonly outcome: string;
}

/** Refunds in the acquirer's file; the last line of each key counts. */
export function readAcquirerRefunds(platform: Platform): AcquirerRefund[] {
  const lines = readFileSync(join(platform.dataDir, 'acquirer', 'charges.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1);
  const refunds = lines
    .map((line) => JSON.parse(line) as AcquirerRefund)
    .filter(({ refundKey }) => refundKey !== undefined);
  return [...new Map(refunds.map((refund) => [refund.refundKey, refund])).values()];
}

/**
 * The refunds of one payment in the acquirer's file, the table `refunds` and the ledger: the sorted ids of the
 * succeeded refunds, and their sums.
 */
export interface RefundRecords {
  readonly acquirer: readonly string[];
  readonly refunds: readonly string[];
  readonly ledger: readonly string[];
  readonly acquirerAmount: number;
  readonly ledgerAmount: number;
  readonly refundedAmount: number;
  readonly pendingAmount: number;
}

export async function readRefundRecords(platform: Platform, paymentReference: string): Promise<RefundRecords> {
  const acquirer = readAcquirerRefunds(platform).filter(
    (refund) => refund.paymentReference === paymentReference && refund.outcome === 'succeeded',
  );
  const [row] = await platform.sql<Omit<RefundRecords, 'acquirer' | 'acquirerAmount'>>(
    `SELECT ARRAY(SELECT refund_id::text FROM payment_processor.refunds r
                   WHERE r.payment_id = p.payment_id AND state = 'succeeded' ORDER BY 1) AS refunds,
            ARRAY(SELECT refund_id::text FROM payment_processor.transfers t
                   WHERE t.payment_id = p.payment_id AND kind = 'refund' ORDER BY 1) AS ledger,
            (SELECT coalesce(sum(amount), 0)::int FROM payment_processor.transfers t
              WHERE t.payment_id = p.payment_id AND kind = 'refund') AS "ledgerAmount",
            refunded_amount::int AS "refundedAmount", refund_pending_amount::int AS "pendingAmount"
       FROM payment_processor.payments p WHERE payment_reference = $1`,
    [paymentReference],
  );
  if (!row) throw new Error('There is no such payment.');
  const acquirerAmount = acquirer.reduce((sum, { amount }) => sum + amount, 0);
  return { ...row, acquirer: acquirer.map(({ refundKey }) => refundKey).sort(), acquirerAmount };
}

/**
 * Expects the same refunds in the acquirer's file, the table `refunds` and the ledger. Also expects the same sum in the
 * payment, and no pending refund.
 */
export async function expectConsistentRefunds(platform: Platform, paymentReference: string): Promise<RefundRecords> {
  const records = await readRefundRecords(platform, paymentReference);
  expect([records.refunds, records.ledger]).toEqual([records.acquirer, records.acquirer]);
  expect([records.refundedAmount, records.ledgerAmount, records.pendingAmount]).toEqual([
    records.acquirerAmount,
    records.acquirerAmount,
    0,
  ]);
  expect(records.acquirerAmount).toBeLessThanOrEqual(PAID_AMOUNT);
  return records;
}

/** Waits until no refund of these payments is pending. Makes their status queries due now, to shorten the test. */
export async function waitForRefunds(platform: Platform, payments: readonly string[]): Promise<void> {
  const filter = `payment_id IN (SELECT payment_id FROM payment_processor.payments WHERE payment_reference = ANY ($1))`;
  await waitUntil('every refund to end', 60_000, async () => {
    const pending = await platform.sql(
      `SELECT 1 FROM payment_processor.refunds WHERE state = 'pending' AND ${filter}`,
      [payments],
    );
    if (pending.length === 0) return true;
    await platform.sql(
      `UPDATE payment_processor.refunds SET next_query_at = $2 WHERE next_query_at > $2 AND ${filter}`,
      [payments, new Date()],
    );
    return false;
  });
}

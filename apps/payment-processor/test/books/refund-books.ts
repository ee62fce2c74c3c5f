import { type Processor, readBankRecords } from '../processor.js';

/** The refunds of one payment according to its rows, the ledger, the events and the bank. Amounts in cents. */
export interface RefundRecords {
  readonly processed: number;
  readonly refunded: number;
  readonly pending: number;
  readonly refunds: readonly { amount: number; state: string; requestedBy: string }[];
  readonly ledger: readonly { amount: number; currency: string; debit: string; credit: string }[];
  /** Refunds that succeeded at the bank. */
  readonly bank: readonly { amount: number; account: unknown }[];
  /** Number of events of ended refunds. */
  readonly events: number;
}

export async function readRefundRecords(processor: Processor, paymentReference: string): Promise<RefundRecords> {
  const [row] = await processor.dataSource.query<Omit<RefundRecords, 'bank'>[]>(
    `SELECT p.processed_amount AS processed, p.refunded_amount AS refunded, p.refund_pending_amount AS pending,
            (SELECT coalesce(jsonb_agg(jsonb_build_object('amount', r.amount, 'state', r.state, 'requestedBy', r.requested_by) ORDER BY r.refund_id), '[]')
               FROM refunds r WHERE r.payment_id = p.payment_id) AS refunds,
            (SELECT coalesce(jsonb_agg(jsonb_build_object('amount', t.amount, 'currency', t.currency, 'debit', t.debit_account, 'credit', t.credit_account) ORDER BY t.refund_id), '[]')
               FROM transfers t WHERE t.payment_id = p.payment_id AND t.kind = 'refund') AS ledger,
            (SELECT count(*)::int FROM event_log e JOIN refunds r ON r.refund_id::text = e.aggregate_id
              WHERE r.payment_id = p.payment_id AND e.type IN ('refund.succeeded.v1', 'refund.failed.v1')) AS events
       FROM payments p WHERE p.payment_reference = $1`,
    [paymentReference],
  );
  if (!row) throw new Error('The payment does not exist.');
  return { ...row, bank: readBankRefunds(processor, paymentReference) };
}

/** Reads the last record of each refund at the bank. */
function readBankRefunds(processor: Processor, paymentReference: string): RefundRecords['bank'] {
  const last = new Map<unknown, Record<string, unknown>>();
  for (const line of readBankRecords(processor)) if (line['refundKey'] !== undefined) last.set(line['refundKey'], line);
  return [...last.values()]
    .filter((line) => line['outcome'] === 'succeeded' && line['paymentReference'] === paymentReference)
    .map(({ amount, account }) => ({ amount: amount as number, account }));
}

/** Expects that bank, payment, refunds, ledger and events are consistent, and that no refund is pending. */
export async function expectConsistentRecords(processor: Processor, paymentReference: string): Promise<RefundRecords> {
  const records = await readRefundRecords(processor, paymentReference);
  const succeeded = records.refunds.filter(({ state }) => state === 'succeeded').map(({ amount }) => amount);
  const sortedAmounts = (amounts: readonly { amount: number }[]): number[] =>
    amounts.map(({ amount }) => amount).sort((a, b) => a - b);
  expect(sortedAmounts(records.bank)).toEqual(succeeded.toSorted((a, b) => a - b));
  expect(sortedAmounts(records.ledger)).toEqual(sortedAmounts(records.bank));
  expect(records.refunded).toBe(succeeded.reduce((sum, amount) => sum + amount, 0));
  expect(records.refunded).toBeLessThanOrEqual(records.processed);
  expect([records.pending, records.events]).toEqual([0, records.refunds.length]);
  return records;
}

import { PaymentReversedV1 } from '@svc/contracts';
import type { ContractWorld } from './contract-world.js';

/** The rows, ledger and events of one payment. Amounts in cents. */
interface PaymentRecords {
  readonly paymentReference: string;
  readonly payableId: string;
  readonly state: string;
  readonly payable: string;
  readonly processed: number;
  readonly refunded: number;
  readonly pendingRefunds: number;
  readonly refunds: readonly { readonly state: string; readonly amount: number; readonly isReturned: boolean }[];
  readonly captures: readonly string[] | null;
  /** Number of its reversals that were requested after their attempt had ended, and that found a charge. */
  readonly lateReversals: number;
  readonly isHolder: boolean;
  /** Debits less credits of the acquirer's receivable account. */
  readonly receivable: number;
  /** Debits less credits of the account of late approvals. */
  readonly lateApprovals: number;
  /** Fees less returned fees. */
  readonly fees: number;
  /** Booked debits of disputes less reversals. */
  readonly disputed: number;
  /** Number of events by type. */
  readonly events: Readonly<Record<string, number>> | null;
}

/**
 * Expects that the rows, the ledger and the events of the case's payments agree with each other and with the acquirer's
 * own records, that nothing is charged twice, and that no table contains a card number. Call it when nothing more can
 * happen.
 *
 * @param openAuthorisations number of approvals that expire at the acquirer without taking money
 */
export async function expectInvariants(world: ContractWorld, openAuthorisations = 0): Promise<void> {
  const payments = await readPayments(world);
  let open = 0;
  for (const payment of payments) {
    const acquirer = await world.driver.readRecords(payment.paymentReference);
    open += acquirer.openAuthorisations;
    expect({ ...payment, ...summarise(payment), acquirerHolds: acquirer.heldAmount }).toEqual({
      ...payment,
      ...expectedRecords(payment, world.driver.capturesSeparately),
      acquirerHolds: payment.receivable,
    });
    expect(acquirer.approvals).toBeLessThanOrEqual(1);
  }
  expect(open).toBe(openAuthorisations);
  expectOneSuccessOfEachPayable(payments);
  expect(world.driver.findRequestProblems()).toEqual([]);
  expect(await findTablesWithCards(world)).toEqual([]);
}

type Summary = Record<string, unknown>;

function summarise({
  state,
  payable,
  isHolder,
  events,
  captures,
  fees,
  receivable,
  ...payment
}: PaymentRecords): Summary {
  return {
    state,
    payableOfSuccess: state === 'success' ? [payable, isHolder] : undefined,
    succeededEvents: events?.['payment.succeeded.v1'] ?? 0,
    failedEvents: events?.['payment.failed.v1'] ?? 0,
    reversedEvents: events?.[PaymentReversedV1.name] ?? 0,
    refundEvents: [events?.['refund.succeeded.v1'] ?? 0, events?.['refund.failed.v1'] ?? 0],
    captures: captures ?? [],
    hasFees: fees > 0,
    receivable,
    lateApprovals: payment.lateApprovals,
    refunded: payment.refunded,
    pendingRefunds: payment.pendingRefunds,
  };
}

function expectedRecords(payment: PaymentRecords, capturesSeparately: boolean): Summary {
  const { state, processed, refunds, captures, disputed, lateReversals } = payment;
  const isPaid = state === 'success';
  const isCaptureFailed = captures?.[0] === 'failed';
  const succeeded = refunds.filter((refund) => refund.state === 'succeeded');
  const refunded = succeeded.reduce((sum, { amount }) => sum + amount, 0);
  return {
    // In the end a payment is decided.
    state: isPaid ? 'success' : 'failed',
    payableOfSuccess: isPaid ? ['paid', true] : undefined,
    succeededEvents: isPaid ? 1 : 0,
    failedEvents: isPaid ? 0 : 1,
    // The reversal of an open attempt has no event of its own: the payment fails once.
    reversedEvents: Number(isCaptureFailed) + lateReversals,
    refundEvents: [
      refunds.filter((refund) => refund.state === 'succeeded' || refund.isReturned).length,
      refunds.filter((refund) => refund.state === 'failed').length,
    ],
    captures: isPaid && capturesSeparately ? [isCaptureFailed ? 'failed' : 'captured'] : [],
    hasFees: isPaid && !isCaptureFailed,
    receivable: isPaid && !isCaptureFailed ? processed - refunded - disputed : 0,
    lateApprovals: 0,
    refunded,
    pendingRefunds: 0,
  };
}

function expectOneSuccessOfEachPayable(payments: readonly PaymentRecords[]): void {
  const paid = payments.filter(({ state }) => state === 'success').map(({ payableId }) => payableId);
  expect(paid).toEqual([...new Set(paid)]);
}

async function readPayments({ processor, merchantId, driver }: ContractWorld): Promise<PaymentRecords[]> {
  return processor.dataSource.query<PaymentRecords[]>(
    `SELECT p.payment_reference AS "paymentReference", p.payable_id AS "payableId", p.state, y.state AS payable,
            p.processed_amount AS processed, p.refunded_amount AS refunded, p.refund_pending_amount AS "pendingRefunds",
            y.holder = p.payment_id AS "isHolder",
            (SELECT coalesce(jsonb_agg(jsonb_build_object('state', r.state, 'amount', r.amount, 'isReturned', r.returned_at IS NOT NULL)), '[]')
               FROM refunds r WHERE r.payment_id = p.payment_id) AS refunds,
            (SELECT count(*)::int FROM reversals v JOIN attempts a ON a.attempt_id = v.attempt_id
              WHERE a.payment_id = p.payment_id AND v.found_charge) AS "lateReversals",
            (SELECT jsonb_agg(c.state) FROM captures c WHERE c.payment_id = p.payment_id) AS captures,
            (SELECT coalesce(sum(CASE WHEN t.debit_account = $2 THEN t.amount WHEN t.credit_account = $2 THEN -t.amount ELSE 0 END), 0)::int
               FROM transfers t WHERE t.payment_id = p.payment_id) AS receivable,
            (SELECT coalesce(sum(CASE WHEN t.debit_account = $3 THEN t.amount WHEN t.credit_account = $3 THEN -t.amount ELSE 0 END), 0)::int
               FROM transfers t WHERE t.payment_id = p.payment_id) AS "lateApprovals",
            (SELECT coalesce(sum(CASE t.kind WHEN 'fee' THEN t.amount WHEN 'feeReversal' THEN -t.amount ELSE 0 END), 0)::int
               FROM transfers t WHERE t.payment_id = p.payment_id) AS fees,
            (SELECT coalesce(sum(CASE t.kind WHEN 'dispute' THEN t.amount WHEN 'disputeReversal' THEN -t.amount ELSE 0 END), 0)::int
               FROM transfers t WHERE t.payment_id = p.payment_id) AS disputed,
            (SELECT jsonb_object_agg(type, number) FROM (
               SELECT e.type, count(*)::int AS number FROM event_log e
                WHERE e.aggregate_id IN (SELECT p.payment_id::text
                                         UNION SELECT a.attempt_id::text FROM attempts a WHERE a.payment_id = p.payment_id
                                         UNION SELECT r.refund_id::text FROM refunds r WHERE r.payment_id = p.payment_id)
                GROUP BY e.type) counted) AS events
       FROM payments p JOIN payables y USING (payable_id) WHERE y.merchant_id = $1 ORDER BY p.accepted_at`,
    [merchantId, `test:acquirer:${driver.acquirer}:receivable`, `test:acquirer:${driver.acquirer}:reversals`],
  );
}

/** The tables with a row that contains the number of a card that a case used, as text or as bytes. */
export async function findTablesWithCards({ processor, cardNumbers }: ContractWorld): Promise<string[]> {
  const { rows: tables } = await processor.superuser.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'`,
  );
  const forms = [...cardNumbers].flatMap((number) => [number, Buffer.from(number).toString('hex')]);
  const searches = tables.map(
    ({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name} t WHERE t::text LIKE ANY ($1))`,
  );
  const { rows } = await processor.superuser.query<{ name: string }>(searches.join(' UNION ALL '), [
    forms.map((form) => `%${form}%`),
  ]);
  return rows.map(({ name }) => name);
}

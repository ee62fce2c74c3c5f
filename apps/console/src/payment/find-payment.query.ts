import type { DisputeStage, PaymentError, RefundStatus } from '@svc/contracts';
import { isoTime } from '@svc/messaging';
import { selectedColumns } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import { fromRow, type PaymentRow } from '../payments/list-payments.query.js';
import type { ConsolePayment } from '../read-model/console-payment.js';
import { PAYMENT_COLUMNS } from '../read-model/payment.repository.js';
import { SERVING_GENERATION } from '../read-model/read-model.js';
import type { PaymentScope } from '../viewer/payment-scope.js';

/** Amounts in cents, dates as ISO 8601 UTC. */
export interface PaymentRefund {
  readonly refundReference: string;
  readonly amount: number;
  readonly status: RefundStatus;
  readonly createdUTCDate: string;
  /** When the money of a refund that had succeeded came back. */
  readonly returnedUTCDate: string | null;
}

export interface PaymentReversal {
  readonly reversedUTCDate: string;
  readonly amount: number;
  readonly captureFailed: boolean;
}

export interface PaymentDispute {
  readonly disputeReference: string;
  readonly stage: DisputeStage;
  readonly amount: number;
  readonly reason: string;
  readonly respondByUTCDate: string | null;
  readonly createdUTCDate: string;
  readonly changedUTCDate: string;
}

/** Another payment of the same session or invoice, for example an earlier one that the bank declined. */
export interface OtherPayment {
  readonly paymentReference: string;
  readonly paymentUTCDate: string;
  readonly state: ConsolePayment['state'];
  readonly errors: readonly PaymentError[];
}

/** A payment with all that happened to it, each oldest first, at most 100. */
export interface PaymentDetails extends ConsolePayment {
  readonly refunds: readonly PaymentRefund[];
  readonly reversals: readonly PaymentReversal[];
  readonly disputes: readonly PaymentDispute[];
  /** When the payer's bank asked for a confirmation; null if it did not. */
  readonly verificationUTCDate: string | null;
  readonly otherPayments: readonly OtherPayment[];
}

/** The records of the payment p in one of its tables, as JSON. */
const recordsOf = (table: string, members: string, order: string): string => `
  COALESCE((SELECT json_agg(json_build_object(${members}) ORDER BY r.${order})
              FROM (SELECT * FROM ${table} t WHERE t.generation = p.generation AND t.payment_reference = p.payment_reference
                     ORDER BY t.${order} LIMIT 100) r), '[]'::json)`;

/** $1 merchant, $2 mode, $3 sites or NULL, $4 payment reference. */
const FIND = `
  SELECT ${selectedColumns(PAYMENT_COLUMNS, 'p')},
         ${recordsOf('refunds', `'refundReference', r.refund_reference, 'amount', r.amount, 'status', r.status, 'createdUTCDate', ${isoTime('r.created_utc_date')}, 'returnedUTCDate', ${isoTime('r.returned_utc_date')}`, 'created_utc_date')} AS refunds,
         ${recordsOf('reversals', `'reversedUTCDate', ${isoTime('r.reversed_utc_date')}, 'amount', r.amount, 'captureFailed', r.capture_failed`, 'reversed_utc_date')} AS reversals,
         ${recordsOf('disputes', `'disputeReference', r.dispute_reference, 'stage', r.stage, 'amount', r.amount, 'reason', r.reason, 'respondByUTCDate', ${isoTime('r.respond_by')}, 'createdUTCDate', ${isoTime('r.created_utc_date')}, 'changedUTCDate', ${isoTime('r.changed_utc_date')}`, 'created_utc_date')} AS disputes,
         (SELECT ${isoTime('v.asked_utc_date')} FROM verifications v
           WHERE v.generation = p.generation AND v.payment_reference = p.payment_reference) AS "verificationUTCDate",
         COALESCE((SELECT json_agg(json_build_object('paymentReference', o.payment_reference, 'paymentUTCDate', ${isoTime('o.payment_utc_date')},
                                                     'state', o.state, 'errors', o.errors) ORDER BY o.payment_utc_date)
                     FROM (SELECT * FROM payments t WHERE t.generation = p.generation AND t.payable_id = p.payable_id
                              AND t.merchant_id = p.merchant_id AND t.mode = p.mode AND t.site_id = p.site_id
                              AND t.payment_reference <> p.payment_reference
                            ORDER BY t.payment_utc_date LIMIT 100) o), '[]'::json) AS "otherPayments"
    FROM payments p
   WHERE p.generation = ${SERVING_GENERATION} AND p.payment_reference = $4
     AND p.merchant_id = $1 AND p.mode = $2 AND ($3::bigint[] IS NULL OR p.site_id = ANY ($3))`;

/** @returns undefined for an unknown payment, and for a payment outside the scope */
export async function findPayment(
  dataSource: DataSource,
  { merchantId, mode, sites }: PaymentScope,
  paymentReference: string,
): Promise<PaymentDetails | undefined> {
  type Row = PaymentRow & Omit<PaymentDetails, keyof PaymentRow>;
  const [row] = await dataSource.query<Row[]>(FIND, [
    merchantId,
    mode,
    sites === 'all' ? null : sites,
    paymentReference,
  ]);
  if (!row) return undefined;
  const { refunds, reversals, disputes, verificationUTCDate, otherPayments, ...payment } = row;
  return { ...fromRow(payment), refunds, reversals, disputes, verificationUTCDate, otherPayments };
}

import type {
  Mode,
  PaymentSnapshot,
  PaymentState,
  RefundedPayment,
  RefundResponse,
  RefundStatus,
} from '@svc/contracts';
import type { PaymentRow } from '../payments/payment-columns.js';
import type { CaptureProgress, RefundablePayment, RefundState } from './refund.js';

/** SQL for a {@link CaptureProgress}, from a capture `c` by an outer join. */
export const CAPTURE_PROGRESS = `CASE WHEN c.state IS NULL OR c.state = 'captured' THEN 'captured' WHEN c.state = 'failed' THEN 'failed' ELSE 'open' END`;

export const REFUND_COLUMNS = `r.refund_id, r.amount, r.state, r.created_at, p.payment_reference`;

export interface RefundRow {
  refund_id: string;
  amount: number;
  state: RefundStatus;
  created_at: Date;
  payment_reference: string;
}

export function responseFromRow(row: RefundRow): RefundResponse {
  return {
    refundReference: row.refund_id,
    svcId: row.payment_reference,
    amount: row.amount,
    status: row.state,
    createdUTCDate: row.created_at.toISOString(),
  };
}

/** A payment with its charge, which is NULL if no acquirer has approved one. */
export type PaymentToRefundRow = RefundablePayment & {
  readonly state: PaymentState;
  readonly paymentId: string;
  readonly paymentReference: string;
  readonly currencyISOCode: string;
} & {
  mode: Mode;
  attemptId: string | null;
  acquirer: string | null;
  account: string | null;
  acquirerReference: string | null;
};

/** A refund that is locked, with its payment. */
export interface LockedRow extends PaymentRow {
  refund_state: RefundState;
  refund_amount: number;
  created_at: Date;
  acquirer: string;
}

/** The tables, joins and columns of an {@link OpenRow}; `r` is the refund. */
export const OPEN_TABLES = `attempts a LEFT JOIN captures c ON c.attempt_id = a.attempt_id, payments p, payables y`;
export const OPEN_JOINS = `a.attempt_id = r.attempt_id AND p.payment_id = r.payment_id AND y.payable_id = p.payable_id`;
export const OPEN_COLUMNS = `r.refund_id, r.attempt_id, r.amount, r.created_at, r.queries, a.acquirer, a.account,
  a.acquirer_reference, r.acquirer_reference AS refund_acquirer_reference, ${CAPTURE_PROGRESS} AS capture,
  c.captured_at, r.uncertain_since IS NOT NULL AS is_uncertain,
  p.payment_reference, y.mode, y.currency`;

export interface OpenRow {
  refund_id: string;
  attempt_id: string;
  amount: number;
  created_at: Date;
  queries: number;
  acquirer: string;
  account: string;
  acquirer_reference: string;
  refund_acquirer_reference: string | null;
  capture: CaptureProgress;
  captured_at: Date | null;
  is_uncertain: boolean;
  payment_reference: string;
  mode: Mode;
  currency: string;
}

/** The payload of the event: the payment with its ended refund. */
export function refundedPayment(
  payment: PaymentSnapshot,
  refundReference: string,
  status: RefundStatus,
  { refund_amount: amount, created_at: createdAt }: LockedRow,
): RefundedPayment {
  return { ...payment, refund: { refundReference, amount, status, createdUTCDate: createdAt.toISOString() } };
}

import type {
  HostedSessionSource,
  Mode,
  PayableState,
  PaymentError,
  PaymentSnapshot,
  PaymentState,
} from '@svc/contracts';

/** Columns of a payment, its payable and its verification, for {@link asSnapshot}: `p`, `y`, and `v` by an outer join. */
export const PAYMENT_COLUMNS = `p.payment_id, p.reference, p.payment_reference, p.state, p.amount, p.tip_amount, p.processed_amount,
  p.method_label, p.errors, p.accepted_at, p.modified_at, p.version AS payment_version, y.payable_id, y.mode, y.merchant_id, y.site_id,
  y.amount AS payable_amount, y.currency, y.source, y.state AS payable_state, y.version AS payable_version, y.tries, y.tries_max,
  CASE WHEN p.state = 'verificationRequired' THEN v.challenge_url END AS verification_url, v.expires_at AS verification_until`;

export interface PaymentRow {
  payment_id: string;
  reference: string;
  payment_reference: string;
  state: PaymentState;
  amount: number;
  tip_amount: number;
  processed_amount: number;
  method_label: string;
  errors: PaymentError[];
  accepted_at: Date;
  modified_at: Date;
  payment_version: number;
  payable_id: string;
  mode: Mode;
  merchant_id: number;
  site_id: number;
  payable_amount: number;
  currency: string;
  source: HostedSessionSource;
  payable_state: PayableState;
  payable_version: number;
  tries: number;
  tries_max: number;
  verification_url: string | null;
  verification_until: Date | null;
}

/** The payment as everybody is told of it. */
export function asSnapshot(row: PaymentRow): PaymentSnapshot {
  return {
    reference: row.reference,
    paymentReference: row.payment_reference,
    mode: row.mode,
    merchantId: row.merchant_id,
    siteId: row.site_id,
    state: row.state,
    currencyISOCode: row.currency,
    invoicedAmount: row.payable_amount,
    amount: row.amount,
    tipAmount: row.tip_amount,
    processedAmount: row.processed_amount,
    paymentUTCDate: row.accepted_at.toISOString(),
    modifiedUTCDate: row.modified_at.toISOString(),
    paymentMethodType: 'Card',
    paymentMethodLabel: row.method_label,
    errors: row.errors,
    ...(row.verification_url && row.verification_until
      ? { verificationUrl: row.verification_url, verificationUntilUTCDate: row.verification_until.toISOString() }
      : {}),
    source: row.source,
    payable: { payableId: row.payable_id, state: row.payable_state, version: row.payable_version, tries: row.tries },
  };
}

import type {
  FeeTerms,
  Mode,
  PayableSource,
  PayableState,
  PaymentError,
  PaymentMethodType,
  PaymentSnapshot,
  PaymentState,
} from '@svc/contracts';
import type { PartnerFields } from './payment.js';

/**
 * Columns of a payment (alias `p`), its payable (`y`) and its verification (`v`, by an outer join), for {@link
 * snapshotFromRow}.
 */
export const PAYMENT_COLUMNS = `p.payment_id, p.reference, p.payment_reference, p.state, p.amount, p.tip_amount, p.processed_amount,
  p.method_type, p.method_label, p.partner, p.merchant_name, p.site_reference, p.errors, p.fee_basis_points, p.fee_fixed_amount, p.accepted_at, p.modified_at, p.version AS payment_version, y.payable_id, y.mode, y.merchant_id, y.site_id,
  y.amount AS payable_amount, y.currency, y.source, y.state AS payable_state, y.version AS payable_version, y.tries, y.tries_max,
  CASE WHEN p.state = 'verificationRequired' THEN v.challenge_url END AS verification_url, v.expires_at AS verification_until`;

/**
 * Further fields of a payment through the main API. The client's reference is stored and returned as the client sent it
 * (C4).
 */
export type StoredPartnerFields = PartnerFields & { readonly reference: string };

export interface PaymentRow {
  payment_id: string;
  reference: string;
  payment_reference: string;
  state: PaymentState;
  amount: number;
  tip_amount: number;
  processed_amount: number;
  method_type: PaymentMethodType;
  method_label: string;
  partner: StoredPartnerFields | null;
  merchant_name: string | null;
  site_reference: string | null;
  errors: PaymentError[];
  fee_basis_points: number;
  fee_fixed_amount: number;
  accepted_at: Date;
  modified_at: Date;
  payment_version: number;
  payable_id: string;
  mode: Mode;
  merchant_id: number;
  site_id: number;
  payable_amount: number;
  currency: string;
  source: PayableSource;
  payable_state: PayableState;
  payable_version: number;
  tries: number;
  tries_max: number;
  verification_url: string | null;
  verification_until: Date | null;
}

/** The fee terms at the acceptance of the payment. */
export function feeTermsFromRow(row: Pick<PaymentRow, 'fee_basis_points' | 'fee_fixed_amount'>): FeeTerms {
  return { basisPoints: row.fee_basis_points, fixedAmount: row.fee_fixed_amount };
}

/** Converts a row to the snapshot of the payment for events and responses. */
export function snapshotFromRow(row: PaymentRow): PaymentSnapshot {
  return {
    // For a partner's payment, `row.partner` below replaces this value with the reference as the partner sent it.
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
    paymentMethodType: row.method_type,
    paymentMethodLabel: row.method_label,
    errors: row.errors,
    ...(row.verification_url && row.verification_until
      ? { verificationUrl: row.verification_url, verificationUntilUTCDate: row.verification_until.toISOString() }
      : {}),
    source: row.source,
    merchantName: row.merchant_name ?? '',
    siteReference: row.site_reference ?? '',
    ...row.partner,
    payable: { payableId: row.payable_id, state: row.payable_state, version: row.payable_version, tries: row.tries },
  };
}

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
import { vouchersTotal } from '../payables/amount-to-process.js';
import type { PartnerFields } from './payment.js';

/** The column `partner`. It contains the client's reference as the client sent it (C4). */
type StoredPartnerFields = Omit<PartnerFields, 'merchantName' | 'siteReference'> & { readonly reference: string };

/** The columns of the table `payments` that a payment has from its acceptance. */
interface StoredPayment {
  payment_id: string;
  payable_id: string;
  reference: string;
  payment_reference: string;
  state: PaymentState;
  amount: number;
  tip_amount: number;
  voucher_amount: number;
  processed_amount: number;
  fee_basis_points: number;
  fee_fixed_amount: number;
  method_type: PaymentMethodType;
  method_label: string;
  merchant_name: string;
  site_reference: string;
  partner: StoredPartnerFields | null;
  errors: PaymentError[];
  accepted_at: Date;
  modified_at: Date;
  version: number;
}

/** A new column needs a line here, in {@link StoredPayment}, and in the conversions of this file. */
export const PAYMENT_TYPES = {
  payment_id: 'uuid',
  payable_id: 'uuid',
  reference: 'uuid',
  payment_reference: 'text',
  state: 'text',
  amount: 'bigint',
  tip_amount: 'bigint',
  voucher_amount: 'bigint',
  processed_amount: 'bigint',
  fee_basis_points: 'int',
  fee_fixed_amount: 'bigint',
  method_type: 'text',
  method_label: 'text',
  merchant_name: 'text',
  site_reference: 'text',
  partner: 'jsonb',
  errors: 'jsonb',
  accepted_at: 'timestamptz',
  modified_at: 'timestamptz',
  version: 'bigint',
} as const satisfies Record<keyof StoredPayment, string>;

/** The tables of {@link PAYMENT_COLUMNS}. */
export const PAYMENT_TABLES = `payments p JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN verifications v ON v.payment_id = p.payment_id`;

/**
 * Columns of a payment (alias `p`), its payable (`y`) and its verification (`v`, by an outer join), for {@link
 * snapshotFromRow}.
 */
export const PAYMENT_COLUMNS = `${Object.keys(PAYMENT_TYPES)
  .map((column) => `p.${column}`)
  .join(', ')}, y.mode, y.merchant_id, y.site_id,
  y.amount AS payable_amount, y.currency, y.source, y.state AS payable_state, y.version AS payable_version, y.tries, y.tries_max,
  CASE WHEN p.state = 'verificationRequired' THEN v.challenge_url END AS verification_url, v.expires_at AS verification_until`;

export interface PaymentRow extends StoredPayment {
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

/** Converts an accepted payment to its row. The statement that inserts the row adds the fee terms. */
export function rowFromPayment(
  paymentId: string,
  payment: PaymentSnapshot,
): Omit<StoredPayment, 'fee_basis_points' | 'fee_fixed_amount'> {
  const { partner, orderReference, externalPaymentReference, vouchers } = payment;
  const { reference, invoiceReference, invoiceExternalReference } = payment;
  const references = {
    reference,
    orderReference,
    externalPaymentReference,
    invoiceReference,
    invoiceExternalReference,
  };
  return {
    payment_id: paymentId,
    payable_id: payment.payable.payableId,
    // The idempotency key of a partner's payment is in partner_references.
    reference: partner ? paymentId : reference,
    payment_reference: payment.paymentReference,
    state: payment.state,
    amount: payment.amount,
    tip_amount: payment.tipAmount,
    voucher_amount: vouchersTotal(vouchers),
    processed_amount: payment.processedAmount,
    method_type: payment.paymentMethodType,
    method_label: payment.paymentMethodLabel,
    merchant_name: payment.merchantName,
    site_reference: payment.siteReference,
    partner: partner ? ({ ...references, partner, vouchers } as StoredPartnerFields) : null,
    errors: [...payment.errors],
    accepted_at: new Date(payment.paymentUTCDate),
    modified_at: new Date(payment.modifiedUTCDate),
    version: 1,
  };
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
    merchantName: row.merchant_name,
    siteReference: row.site_reference,
    ...row.partner,
    payable: { payableId: row.payable_id, state: row.payable_state, version: row.payable_version, tries: row.tries },
  };
}

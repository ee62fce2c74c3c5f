import type { FeeTerms, Mode, PayableSource, PayableState, PaymentError, PaymentSnapshot } from '@svc/contracts';
import { type ColumnMap, selectedColumns, toRecord } from '@svc/persistence';
import { vouchersTotal } from '../payables/amount-to-process.js';
import type { PartnerFields } from './payment.js';

/** The column `partner`. It contains the client's reference as the client sent it (C4). */
type StoredPartnerFields = Omit<PartnerFields, 'merchantName' | 'siteReference'> & { readonly reference: string };

/** The columns of the table `payments` that a payment has from its acceptance. */
interface StoredPayment extends Pick<
  PaymentSnapshot,
  | 'reference'
  | 'paymentReference'
  | 'state'
  | 'amount'
  | 'tipAmount'
  | 'processedAmount'
  | 'paymentMethodType'
  | 'paymentMethodLabel'
  | 'merchantName'
  | 'siteReference'
> {
  readonly paymentId: string;
  readonly payableId: string;
  readonly voucherAmount: number;
  readonly feeBasisPoints: number;
  readonly feeFixedAmount: number;
  readonly partner: StoredPartnerFields | null;
  readonly errors: PaymentError[];
  readonly acceptedAt: Date;
  readonly modifiedAt: Date;
  readonly version: number;
}

export const PAYMENT_MAP: ColumnMap<keyof StoredPayment> = {
  paymentId: ['payment_id', 'uuid'],
  payableId: ['payable_id', 'uuid'],
  reference: ['reference', 'uuid'],
  paymentReference: ['payment_reference', 'text'],
  state: ['state', 'text'],
  amount: ['amount', 'bigint'],
  tipAmount: ['tip_amount', 'bigint'],
  voucherAmount: ['voucher_amount', 'bigint'],
  processedAmount: ['processed_amount', 'bigint'],
  feeBasisPoints: ['fee_basis_points', 'int'],
  feeFixedAmount: ['fee_fixed_amount', 'bigint'],
  paymentMethodType: ['method_type', 'text'],
  paymentMethodLabel: ['method_label', 'text'],
  merchantName: ['merchant_name', 'text'],
  siteReference: ['site_reference', 'text'],
  partner: ['partner', 'jsonb'],
  errors: ['errors', 'jsonb'],
  acceptedAt: ['accepted_at', 'timestamptz'],
  modifiedAt: ['modified_at', 'timestamptz'],
  version: ['version', 'bigint'],
};

/** The tables of {@link PAYMENT_COLUMNS}. */
export const PAYMENT_TABLES = `payments p JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN verifications v ON v.payment_id = p.payment_id`;

/** A payment with its payable and its verification, as {@link PAYMENT_COLUMNS} selects it. */
export interface PaymentRow extends StoredPayment {
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  readonly invoicedAmount: number;
  readonly currencyISOCode: string;
  readonly source: PayableSource;
  readonly payableState: PayableState;
  readonly payableVersion: number;
  readonly paymentCount: number;
  readonly maxPayments: number;
  readonly verificationUrl: string | null;
  readonly verificationUntil: Date | null;
}

/**
 * Columns of a payment (alias `p`), its payable (`y`) and its verification (`v`, by an outer join), for {@link
 * snapshotFromRow}.
 */
export const PAYMENT_COLUMNS = `${selectedColumns(PAYMENT_MAP, 'p')}, y.mode, y.merchant_id AS "merchantId", y.site_id AS "siteId",
  y.amount AS "invoicedAmount", y.currency AS "currencyISOCode", y.source, y.state AS "payableState", y.version AS "payableVersion",
  y.payment_count AS "paymentCount", y.max_payments AS "maxPayments", v.expires_at AS "verificationUntil",
  CASE WHEN p.state = 'verificationRequired' THEN v.challenge_url END AS "verificationUrl"`;

/** The fee terms at the acceptance of the payment. */
export function feeTermsFromRow({
  feeBasisPoints: basisPoints,
  feeFixedAmount: fixedAmount,
}: Pick<PaymentRow, 'feeBasisPoints' | 'feeFixedAmount'>): FeeTerms {
  return { basisPoints, fixedAmount };
}

/** Converts an accepted payment to its row. The statement that inserts the row adds the fee terms. */
export function rowFromPayment(paymentId: string, payment: PaymentSnapshot): Record<string, unknown> {
  const { reference, partner, orderReference, externalPaymentReference, vouchers } = payment;
  const { invoiceReference, invoiceExternalReference } = payment;
  const references = {
    reference,
    orderReference,
    externalPaymentReference,
    invoiceReference,
    invoiceExternalReference,
  };
  return toRecord(PAYMENT_MAP, {
    ...payment,
    paymentId,
    payableId: payment.payable.payableId,
    // The idempotency key of a partner's payment is in partner_references.
    reference: partner ? paymentId : reference,
    voucherAmount: vouchersTotal(vouchers),
    partner: partner ? { ...references, partner, vouchers } : null,
    acceptedAt: new Date(payment.paymentUTCDate),
    modifiedAt: new Date(payment.modifiedUTCDate),
    version: 1,
  });
}

/** Converts a row to the snapshot of the payment for events and responses. */
export function snapshotFromRow(row: PaymentRow): PaymentSnapshot {
  return {
    // For a partner's payment, `row.partner` below replaces this value with the reference as the partner sent it.
    reference: row.reference,
    paymentReference: row.paymentReference,
    mode: row.mode,
    merchantId: row.merchantId,
    siteId: row.siteId,
    state: row.state,
    currencyISOCode: row.currencyISOCode,
    invoicedAmount: row.invoicedAmount,
    amount: row.amount,
    tipAmount: row.tipAmount,
    processedAmount: row.processedAmount,
    paymentUTCDate: row.acceptedAt.toISOString(),
    modifiedUTCDate: row.modifiedAt.toISOString(),
    paymentMethodType: row.paymentMethodType,
    paymentMethodLabel: row.paymentMethodLabel,
    errors: row.errors,
    ...(row.verificationUrl && row.verificationUntil
      ? { verificationUrl: row.verificationUrl, verificationUntilUTCDate: row.verificationUntil.toISOString() }
      : {}),
    source: row.source,
    merchantName: row.merchantName,
    siteReference: row.siteReference,
    ...row.partner,
    payable: {
      payableId: row.payableId,
      state: row.payableState,
      version: row.payableVersion,
      paymentCount: row.paymentCount,
    },
  };
}

import { Inject, Injectable } from '@nestjs/common';
import { buildPaymentView, type PartnerPayment, type PaymentView } from '@svc/contracts';
import { canonicalId } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { PaymentOwner } from './payment-owner.js';

/** A payment, and the version of its event. */
export interface VersionedPayment {
  readonly payment: PartnerPayment;
  readonly version: number;
}

/** A subquery that returns the generation (copy) of the read model that serves queries. */
export const SERVING_GENERATION = `(SELECT generation FROM generations WHERE state = 'serving')`;

/** The columns of a payment, with the names of {@link PaymentView}. */
export const PAYMENT_COLUMNS = `reference, payment_reference AS "paymentReference", state, currency AS "currencyISOCode",
  invoiced_amount AS "invoicedAmount", amount, tip_amount AS "tipAmount", processed_amount AS "processedAmount",
  payment_utc_date AS "paymentUTCDate", modified_utc_date AS "modifiedUTCDate", method_type AS "paymentMethodType",
  method_label AS "paymentMethodLabel", errors, merchant_name AS "merchantName", site_reference AS "siteReference",
  invoice_reference AS "invoiceReference", invoice_external_reference AS "invoiceExternalReference",
  verification_url AS "verificationUrl", coalesce(customer_id_as_sent, customer_id) AS "customerId", first_name AS "firstName", last_name AS "lastName"`;

/** A row of {@link PAYMENT_COLUMNS}. */
export interface PaymentRow extends Omit<
  PaymentView,
  | 'paymentUTCDate'
  | 'modifiedUTCDate'
  | 'invoiceReference'
  | 'invoiceExternalReference'
  | 'verificationUrl'
  | 'customer'
> {
  readonly paymentUTCDate: Date;
  readonly modifiedUTCDate: Date;
  readonly invoiceReference: string | null;
  readonly invoiceExternalReference: string | null;
  readonly verificationUrl: string | null;
  readonly customerId: string;
  readonly firstName: string;
  readonly lastName: string;
}

/** Stores the newest version of each payment, and the number of payments in each time bucket. */
@Injectable()
export class PaymentRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Stores rows and counts in one statement, so that they always agree. Several replicas may upsert the same payments
   * concurrently and in any order, because only the statement that inserts a payment counts the payment, and an older
   * version changes nothing. The statement locks rows in a fixed order, so that two such statements never deadlock.
   */
  async upsertAll(payments: readonly VersionedPayment[]): Promise<void> {
    if (payments.length === 0) return;
    await this.dataSource.query(UPSERT, [JSON.stringify(payments.map(rowFromPayment))]);
  }

  /** Returns undefined for an unknown payment and for a payment of another owner. */
  async findOwned(
    { organisationId, mode, customerId }: PaymentOwner,
    paymentReference: string,
  ): Promise<PaymentView | undefined> {
    const [row] = await this.dataSource.query<PaymentRow[]>(
      `SELECT ${PAYMENT_COLUMNS} FROM payments
        WHERE generation = ${SERVING_GENERATION} AND payment_reference = $1 AND organisation_id = $2 AND mode = $3
          AND ($4::text IS NULL OR customer_id = $4)`,
      [paymentReference, organisationId, mode, customerId ?? null],
    );
    return row && paymentViewFromRow(row);
  }
}

/** Converts a row to a PaymentView. Dates become texts, and members that are null are omitted. */
export function paymentViewFromRow(row: PaymentRow): PaymentView {
  const { invoiceReference, invoiceExternalReference, verificationUrl, customerId, firstName, lastName, ...unchanged } =
    row;
  return {
    ...unchanged,
    paymentUTCDate: row.paymentUTCDate.toISOString(),
    modifiedUTCDate: row.modifiedUTCDate.toISOString(),
    ...(invoiceReference === null ? {} : { invoiceReference }),
    ...(invoiceExternalReference === null ? {} : { invoiceExternalReference }),
    ...(verificationUrl === null ? {} : { verificationUrl }),
    customer: { id: customerId, firstName, lastName },
  };
}

/** Columns of a payment that never change, with their types. Queries find, sort and count payments by these columns. */
const FIXED_COLUMNS = {
  payment_reference: 'text',
  organisation_id: 'uuid',
  mode: 'text',
  customer_id: 'text',
  customer_id_as_sent: 'text',
  payment_utc_date: 'timestamptz',
  reference: 'text',
  merchant_id: 'bigint',
};
/** Columns that a newer version of a payment may change. */
const CHANGING_COLUMNS = {
  version: 'bigint',
  state: 'text',
  modified_utc_date: 'timestamptz',
  invoice_reference: 'text',
  invoice_external_reference: 'text',
  merchant_name: 'text',
  site_reference: 'text',
  currency: 'text',
  invoiced_amount: 'bigint',
  amount: 'bigint',
  tip_amount: 'bigint',
  processed_amount: 'bigint',
  method_type: 'text',
  method_label: 'text',
  verification_url: 'text',
  first_name: 'text',
  last_name: 'text',
  errors: 'jsonb',
};
const COLUMNS = { ...FIXED_COLUMNS, ...CHANGING_COLUMNS };

function rowFromPayment({ payment, version }: VersionedPayment): Record<keyof typeof COLUMNS, unknown> {
  const { partner } = payment;
  const { customer, ...shown } = buildPaymentView(payment);
  return {
    payment_reference: shown.paymentReference,
    organisation_id: partner.organisationId,
    mode: payment.mode,
    customer_id: canonicalId(customer.id),
    customer_id_as_sent: customer.id,
    payment_utc_date: shown.paymentUTCDate,
    reference: shown.reference,
    merchant_id: payment.merchantId,
    version,
    state: shown.state,
    modified_utc_date: shown.modifiedUTCDate,
    invoice_reference: shown.invoiceReference,
    invoice_external_reference: shown.invoiceExternalReference,
    merchant_name: shown.merchantName,
    site_reference: shown.siteReference,
    currency: shown.currencyISOCode,
    invoiced_amount: shown.invoicedAmount,
    amount: shown.amount,
    tip_amount: shown.tipAmount,
    processed_amount: shown.processedAmount,
    method_type: shown.paymentMethodType,
    method_label: shown.paymentMethodLabel,
    verification_url: shown.verificationUrl,
    first_name: customer.firstName,
    last_name: customer.lastName,
    errors: shown.errors,
  };
}

const COLUMN_NAMES = Object.keys(COLUMNS).join(', ');

/** $1: the payments as JSON. Writes to the serving generation and to the generation that is being built. */
const UPSERT = `
  WITH incoming AS (
    SELECT DISTINCT ON (payment_reference) * FROM jsonb_to_recordset($1::jsonb)
        AS incoming (${Object.entries(COLUMNS)
          .map(([name, type]) => `${name} ${type}`)
          .join(', ')})
     ORDER BY payment_reference, version DESC
  ), upserted AS (
    INSERT INTO payments (generation, ${COLUMN_NAMES})
    SELECT generation, ${COLUMN_NAMES.replaceAll(/\w+/g, 'incoming.$&')} FROM incoming CROSS JOIN generations
     WHERE generations.state IN ('serving', 'building') ORDER BY generation, payment_reference
    ON CONFLICT (generation, payment_reference) DO UPDATE
       SET ${Object.keys(CHANGING_COLUMNS)
         .map((name) => `${name} = excluded.${name}`)
         .join(', ')}
     WHERE payments.version < excluded.version
    -- xmax is 0 in an inserted row, and not in an updated one.
    RETURNING generation, organisation_id, mode, customer_id, payment_utc_date, xmax = 0 AS is_new
  )
  INSERT INTO payment_counts (generation, organisation_id, mode, customer_id, level, bucket, payments)
  SELECT generation, organisation_id, mode, owner.customer_id, level,
         floor(extract(epoch FROM payment_utc_date) / 64 ^ level)::bigint AS bucket, count(*)
    FROM upserted, LATERAL (VALUES (''), (upserted.customer_id)) AS owner (customer_id), generate_series(1, 4) AS level
   WHERE is_new GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (generation, organisation_id, mode, customer_id, level, bucket) DO UPDATE
     SET payments = payment_counts.payments + excluded.payments`;

import { Inject, Injectable } from '@nestjs/common';
import { type PartnerPayment, type ShownPayment, shownPaymentOf } from '@svc/contracts';
import { canonicalId } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { PaymentOwner } from './payment-owner.js';

/** A payment as it was told, and which telling that was. */
export interface ToldPayment {
  readonly payment: PartnerPayment;
  readonly version: number;
}

/** The generation of the read model that is read. */
export const SERVING = `(SELECT generation FROM generations WHERE state = 'serving')`;

/** What a row says of a payment, in the words of {@link ShownPayment}. */
export const SHOWN = `reference, payment_reference AS "paymentReference", state, currency AS "currencyISOCode",
  invoiced_amount AS "invoicedAmount", amount, tip_amount AS "tipAmount", processed_amount AS "processedAmount",
  payment_utc_date AS "paymentUTCDate", modified_utc_date AS "modifiedUTCDate", method_type AS "paymentMethodType",
  method_label AS "paymentMethodLabel", errors, merchant_name AS "merchantName", site_reference AS "siteReference",
  invoice_reference AS "invoiceReference", invoice_external_reference AS "invoiceExternalReference",
  verification_url AS "verificationUrl", coalesce(customer_id_as_sent, customer_id) AS "customerId", first_name AS "firstName", last_name AS "lastName"`;

/** As the columns of {@link SHOWN} arrive. */
export interface ShownRow extends Omit<
  ShownPayment,
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

/** Keeps payments at the newest version that was told of them, and how many there are in each stretch of time. */
@Injectable()
export class PaymentRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * One statement, so that rows and counts never disagree. It may be given the same again, in any order, by several
   * replicas at once: a payment is counted by whoever inserts it, and an older version changes nothing. Rows are
   * locked in one order everywhere, so that two of these wait for each other but never in a circle.
   */
  async keep(told: readonly ToldPayment[]): Promise<void> {
    if (told.length === 0) return;
    await this.dataSource.query(KEEP, [JSON.stringify(told.map(rowOf))]);
  }

  /** Undefined where there is none, or it is somebody else's: the two cannot be told apart. */
  async findOwned(
    { organisationId, mode, customerId }: PaymentOwner,
    paymentReference: string,
  ): Promise<ShownPayment | undefined> {
    const [row] = await this.dataSource.query<ShownRow[]>(
      `SELECT ${SHOWN} FROM payments
        WHERE generation = ${SERVING} AND payment_reference = $1 AND organisation_id = $2 AND mode = $3
          AND ($4::text IS NULL OR customer_id = $4)`,
      [paymentReference, organisationId, mode, customerId ?? null],
    );
    return row && toShownPayment(row);
  }
}

/** A row as the answers need it: what it does not have is absent. */
export function toShownPayment(row: ShownRow): ShownPayment {
  const { invoiceReference, invoiceExternalReference, verificationUrl, customerId, firstName, lastName, ...same } = row;
  return {
    ...same,
    paymentUTCDate: row.paymentUTCDate.toISOString(),
    modifiedUTCDate: row.modifiedUTCDate.toISOString(),
    ...(invoiceReference === null ? {} : { invoiceReference }),
    ...(invoiceExternalReference === null ? {} : { invoiceExternalReference }),
    ...(verificationUrl === null ? {} : { verificationUrl }),
    customer: { id: customerId, firstName, lastName },
  };
}

/** Columns that are told once: by them payments are found, ordered and counted. */
const FIXED = {
  payment_reference: 'text',
  organisation_id: 'uuid',
  mode: 'text',
  customer_id: 'text',
  customer_id_as_sent: 'text',
  payment_utc_date: 'timestamptz',
  reference: 'text',
  merchant_id: 'bigint',
};
const CHANGING = {
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
const COLUMNS = { ...FIXED, ...CHANGING };

function rowOf({ payment, version }: ToldPayment): Record<keyof typeof COLUMNS, unknown> {
  const { partner } = payment;
  const { customer, ...shown } = shownPaymentOf(payment);
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

const names = Object.keys(COLUMNS).join(', ');

/** $1: the payments as JSON. To the generation that is read, and to the one that is being built. */
const KEEP = `
  WITH told AS (
    SELECT DISTINCT ON (payment_reference) * FROM jsonb_to_recordset($1::jsonb)
        AS told (${Object.entries(COLUMNS)
          .map(([name, type]) => `${name} ${type}`)
          .join(', ')})
     ORDER BY payment_reference, version DESC
  ), kept AS (
    INSERT INTO payments (generation, ${names})
    SELECT generation, ${names.replaceAll(/\w+/g, 'told.$&')} FROM told CROSS JOIN generations
     WHERE generations.state IN ('serving', 'building') ORDER BY generation, payment_reference
    ON CONFLICT (generation, payment_reference) DO UPDATE
       SET ${Object.keys(CHANGING)
         .map((name) => `${name} = excluded.${name}`)
         .join(', ')}
     WHERE payments.version < excluded.version
    -- xmax is 0 in a row that this statement has inserted, and not in one that it found.
    RETURNING generation, organisation_id, mode, customer_id, payment_utc_date, xmax = 0 AS is_new
  )
  INSERT INTO payment_counts (generation, organisation_id, mode, customer_id, level, bucket, payments)
  SELECT generation, organisation_id, mode, owner.customer_id, level,
         floor(extract(epoch FROM payment_utc_date) / 64 ^ level)::bigint AS bucket, count(*)
    FROM kept, LATERAL (VALUES (''), (kept.customer_id)) AS owner (customer_id), generate_series(1, 4) AS level
   WHERE is_new GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (generation, organisation_id, mode, customer_id, level, bucket) DO UPDATE
     SET payments = payment_counts.payments + excluded.payments`;

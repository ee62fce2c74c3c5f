import { Inject, Injectable } from '@nestjs/common';
import { buildPaymentView, type Mode, type PartnerPayment, type PaymentView } from '@svc/contracts';
import { canonicalId } from '@svc/kernel';
import {
  type ColumnMap,
  excludedColumns,
  insertedColumns,
  recordColumns,
  recordValues,
  selectedColumns,
  toRecord,
} from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { PaymentOwner } from './payment-owner.js';

/** A payment, and the version of its event. */
export interface VersionedPayment {
  readonly payment: PartnerPayment;
  readonly version: number;
}

/** A subquery that returns the generation (copy) of the read model that serves queries. */
export const SERVING_GENERATION = `(SELECT generation FROM generations WHERE state = 'serving')`;

type ViewFields = Omit<PaymentView, 'customer'> & { customerId: string; firstName: string; lastName: string };
interface KeyFields {
  organisationId: string;
  mode: Mode;
  /** The canonical form of `customerId`. */
  customerKey: string;
  merchantId: number;
  version: number;
}

/** The columns that a response contains. A newer version of a payment may change them. */
const CHANGING_COLUMNS = {
  state: ['state', 'text'],
  modifiedUTCDate: ['modified_utc_date', 'timestamptz'],
  invoiceReference: ['invoice_reference', 'text'],
  invoiceExternalReference: ['invoice_external_reference', 'text'],
  merchantName: ['merchant_name', 'text'],
  siteReference: ['site_reference', 'text'],
  currencyISOCode: ['currency', 'text'],
  invoicedAmount: ['invoiced_amount', 'bigint'],
  amount: ['amount', 'bigint'],
  tipAmount: ['tip_amount', 'bigint'],
  processedAmount: ['processed_amount', 'bigint'],
  paymentMethodType: ['method_type', 'text'],
  paymentMethodLabel: ['method_label', 'text'],
  verificationUrl: ['verification_url', 'text'],
  firstName: ['first_name', 'text'],
  lastName: ['last_name', 'text'],
  errors: ['errors', 'jsonb'],
} as const satisfies ColumnMap;

/** All columns that a response contains. */
const VIEW_COLUMNS: ColumnMap<keyof ViewFields> = {
  ...CHANGING_COLUMNS,
  reference: ['reference', 'text'],
  paymentReference: ['payment_reference', 'text'],
  paymentUTCDate: ['payment_utc_date', 'timestamptz'],
  customerId: ['customer_id', 'text'],
};

/** The columns of an insert. */
const COLUMNS: ColumnMap<keyof ViewFields | keyof KeyFields> = {
  ...VIEW_COLUMNS,
  version: ['version', 'bigint'],
  organisationId: ['organisation_id', 'uuid'],
  mode: ['mode', 'text'],
  customerKey: ['customer_key', 'text'],
  merchantId: ['merchant_id', 'bigint'],
};

/** The columns of a payment, with the names of {@link PaymentRow}. */
export const PAYMENT_COLUMNS = selectedColumns(VIEW_COLUMNS);

/** A row of {@link PAYMENT_COLUMNS}. */
export type PaymentRow = Omit<
  ViewFields,
  'paymentUTCDate' | 'modifiedUTCDate' | 'invoiceReference' | 'invoiceExternalReference' | 'verificationUrl'
> & {
  readonly paymentUTCDate: Date;
  readonly modifiedUTCDate: Date;
  readonly invoiceReference: string | null;
  readonly invoiceExternalReference: string | null;
  readonly verificationUrl: string | null;
};

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
    { organisationId, mode, customerKey }: PaymentOwner,
    paymentReference: string,
  ): Promise<PaymentView | undefined> {
    const [row] = await this.dataSource.query<PaymentRow[]>(
      `SELECT ${PAYMENT_COLUMNS} FROM payments
        WHERE generation = ${SERVING_GENERATION} AND payment_reference = $1 AND organisation_id = $2 AND mode = $3
          AND ($4::text IS NULL OR customer_key = $4)`,
      [paymentReference, organisationId, mode, customerKey ?? null],
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

function rowFromPayment({ payment, version }: VersionedPayment): object {
  const { customer, ...view } = buildPaymentView(payment);
  const { id: customerId, firstName, lastName } = customer;
  const keys: KeyFields = {
    organisationId: payment.partner.organisationId,
    mode: payment.mode,
    customerKey: canonicalId(customerId),
    merchantId: payment.merchantId,
    version,
  };
  return toRecord(COLUMNS, { ...view, customerId, firstName, lastName, ...keys });
}

/** $1: the payments as JSON. Writes to the serving generation and to the generation that is being built. */
const UPSERT = `
  WITH incoming AS (
    SELECT DISTINCT ON ("paymentReference") * FROM jsonb_to_recordset($1::jsonb)
        AS incoming (${recordColumns(COLUMNS)})
     ORDER BY "paymentReference", version DESC
  ), upserted AS (
    INSERT INTO payments (generation, ${insertedColumns(COLUMNS)})
    SELECT generation, ${recordValues(COLUMNS, 'incoming')} FROM incoming CROSS JOIN generations
     WHERE generations.state IN ('serving', 'building') ORDER BY generation, "paymentReference"
    ON CONFLICT (generation, payment_reference) DO UPDATE
       SET version = excluded.version, ${excludedColumns(CHANGING_COLUMNS)}
     WHERE payments.version < excluded.version
    -- xmax is 0 in an inserted row, and not in an updated one.
    RETURNING generation, organisation_id, mode, customer_key, payment_utc_date, xmax = 0 AS is_new
  )
  INSERT INTO payment_counts (generation, organisation_id, mode, customer_key, level, bucket, payments)
  SELECT generation, organisation_id, mode, owner.customer_key, level,
         floor(extract(epoch FROM payment_utc_date) / 64 ^ level)::bigint AS bucket, count(*)
    FROM upserted, LATERAL (VALUES (''), (upserted.customer_key)) AS owner (customer_key), generate_series(1, 4) AS level
   WHERE is_new GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (generation, organisation_id, mode, customer_key, level, bucket) DO UPDATE
     SET payments = payment_counts.payments + excluded.payments`;

import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedMerchant } from '@svc/auth';
import {
  buildMerchantPayment,
  type MerchantCustomer,
  type MerchantPayment,
  type PaymentSnapshot,
} from '@svc/contracts';
import { Clock } from '@svc/kernel';
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
import { type PaymentSearch, SEARCH_PAGE_SIZE } from './payment-search.js';
import { intersect, last24Hours, lastThreeMonths, type Window } from './windows.js';

/** A final payment, and the version of its event. */
export interface VersionedPayment {
  readonly payment: PaymentSnapshot;
  readonly version: number;
}

/** The owner of payments in one mode: one site, or all sites of a merchant if `siteId` is undefined. */
export type PaymentOwner = Pick<AuthenticatedMerchant, 'merchantId' | 'siteId' | 'mode'>;

/** Stores the newest version of each payment, and finds payments in the time windows of M2. */
@Injectable()
export class PaymentRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Stores payments in one statement. Several replicas may upsert the same payments concurrently and in any order,
   * because an older version changes nothing. The statement locks rows in a fixed order, so that two such statements
   * never deadlock. Payments that are older than three months are ignored, because no query finds them, and because
   * their partition may have been dropped (M2).
   */
  async upsertAll(payments: readonly VersionedPayment[]): Promise<void> {
    const { from } = lastThreeMonths(this.clock.now());
    const recent = payments.filter(({ payment }) => new Date(payment.paymentUTCDate) >= from);
    if (recent.length === 0) return;
    await this.dataSource.query(UPSERT, [JSON.stringify(recent.map(rowFromPayment))]);
  }

  /** Finds payments by the invoice reference of the service, in the last 24 hours. */
  findByInvoice(owner: PaymentOwner, invoiceReference: string): Promise<MerchantPayment[]> {
    return this.find(BY_INVOICE, owner, last24Hours(this.clock.now()), invoiceReference);
  }

  /** Finds payments by the reference of the merchant, in the last 24 hours. */
  findByExternalReference(owner: PaymentOwner, externalReference: string): Promise<MerchantPayment[]> {
    return this.find(BY_EXTERNAL_REFERENCE, owner, last24Hours(this.clock.now()), externalReference);
  }

  /** Finds a payment by its service payment id, in the last three months. */
  findByPaymentReference(owner: PaymentOwner, paymentReference: string): Promise<MerchantPayment[]> {
    return this.find(BY_PAYMENT_REFERENCE, owner, lastThreeMonths(this.clock.now()), paymentReference);
  }

  /** Finds a page of payments by the reference of the merchant, in the last three months (M9). */
  async search(
    { merchantId, siteId, mode }: PaymentOwner,
    { orderId, after, ...times }: PaymentSearch,
  ): Promise<{ payments: MerchantPayment[]; hasMore: boolean }> {
    const { from, until } = intersect(lastThreeMonths(this.clock.now()), times, after?.paymentUTCDate);
    // Without a cursor, the page begins with the end of the window, which no payment of the window has as its date.
    const position = [after?.paymentUTCDate ?? until, after?.paymentReference ?? ''];
    const parameters = [merchantId, mode, from, until, orderId, ...position, SEARCH_PAGE_SIZE + 1];
    const rows = await (siteId === undefined
      ? this.dataSource.query<PaymentRow[]>(SEARCH, parameters)
      : this.dataSource.query<PaymentRow[]>(SEARCH_OF_SITE, [...parameters, siteId]));
    return { payments: rows.slice(0, SEARCH_PAGE_SIZE).map(paymentFromRow), hasMore: rows.length > SEARCH_PAGE_SIZE };
  }

  private async find(
    statement: string,
    { merchantId, siteId, mode }: PaymentOwner,
    { from, until }: Window,
    value: string,
  ): Promise<MerchantPayment[]> {
    const rows = await this.dataSource.query<PaymentRow[]>(statement, [
      merchantId,
      mode,
      siteId ?? null,
      from,
      until,
      value,
    ]);
    return rows.map(paymentFromRow);
  }
}

type PaymentFields = Omit<MerchantPayment, 'customer'> & MerchantCustomer;
type KeyFields = Pick<PaymentSnapshot, 'merchantId' | 'mode'> & Pick<VersionedPayment, 'version'>;

/** The columns that a response contains. A newer version of a payment may change them. */
export const CHANGING_COLUMNS = {
  invoiceReference: ['invoice_reference', 'text'],
  invoiceExternalReference: ['external_reference', 'text'],
  currencyISOCode: ['currency', 'text'],
  invoicedAmount: ['invoiced_amount', 'bigint'],
  tipAmount: ['tip_amount', 'bigint'],
  tenderedAmount: ['tendered_amount', 'bigint'],
  siteReference: ['site_reference', 'text'],
  status: ['status', 'smallint'],
  vouchers: ['vouchers', 'jsonb'],
  firstName: ['first_name', 'text'],
  lastName: ['last_name', 'text'],
} as const satisfies ColumnMap;

/** All columns that a response contains. */
const PAYMENT_COLUMNS: ColumnMap<keyof PaymentFields> = {
  ...CHANGING_COLUMNS,
  paymentReference: ['payment_reference', 'text'],
  paymentUTCDate: ['payment_utc_date', 'timestamptz'],
  siteId: ['site_id', 'bigint'],
};

/** The columns of an insert. */
const COLUMNS: ColumnMap<keyof PaymentFields | keyof KeyFields> = {
  ...PAYMENT_COLUMNS,
  merchantId: ['merchant_id', 'bigint'],
  mode: ['mode', 'text'],
  version: ['version', 'bigint'],
};

type PaymentRow = Omit<PaymentFields, 'paymentUTCDate'> & { readonly paymentUTCDate: Date };

function paymentFromRow({ paymentUTCDate, firstName, lastName, siteId, ...row }: PaymentRow): MerchantPayment {
  return { ...row, paymentUTCDate: paymentUTCDate.toISOString(), customer: { firstName, lastName }, siteId };
}

function rowFromPayment({ payment, version }: VersionedPayment): object {
  const { customer, ...fields } = buildMerchantPayment(payment);
  const { merchantId, mode } = payment;
  return toRecord(COLUMNS, { ...fields, ...customer, merchantId, mode, version });
}

/** $1 merchant, $2 mode, $3 site or NULL, $4 beginning and $5 end of the window, $6 value of the column. */
const selectByColumn = (column: string): string => `
  SELECT ${selectedColumns(PAYMENT_COLUMNS)}
    FROM payments p
   WHERE p.generation = (SELECT generation FROM generations WHERE state = 'serving')
     AND p.merchant_id = $1 AND p.mode = $2 AND ($3::bigint IS NULL OR p.site_id = $3)
     AND p.payment_utc_date >= $4 AND p.payment_utc_date < $5 AND p.${column} = $6
   ORDER BY p.payment_utc_date DESC, p.payment_reference DESC`;

const BY_INVOICE = selectByColumn('invoice_reference');
const BY_EXTERNAL_REFERENCE = selectByColumn('external_reference');
const BY_PAYMENT_REFERENCE = selectByColumn('payment_reference');

/**
 * $1 merchant, $2 mode, $3 beginning and $4 end of the window, $5 reference of the merchant, $6 date and $7 reference of
 * the last payment of the previous page, $8 number of rows. The dates of the window select the partitions.
 */
const search = (conditionOfSite: string): string => `
  SELECT ${selectedColumns(PAYMENT_COLUMNS)}
    FROM payments p
   WHERE p.generation = (SELECT generation FROM generations WHERE state = 'serving')
     AND p.merchant_id = $1 AND p.mode = $2 AND p.external_reference = $5${conditionOfSite}
     AND p.payment_utc_date >= $3 AND p.payment_utc_date < $4
     AND (p.payment_utc_date, p.payment_reference) < ($6::timestamptz, $7::text)
   ORDER BY p.payment_utc_date DESC, p.payment_reference DESC LIMIT $8`;

const SEARCH = search('');
/** $9 site. A statement of its own, so that the index also contains the condition on the site. */
const SEARCH_OF_SITE = search(' AND p.site_id = $9');

/** $1: the payments as JSON. Writes to the serving generation and to the generation that is being built. */
const UPSERT = `
  INSERT INTO payments (generation, ${insertedColumns(COLUMNS)})
  SELECT g.generation, ${recordValues(COLUMNS, 'p')}
    FROM (SELECT DISTINCT ON ("paymentReference") * FROM jsonb_to_recordset($1::jsonb) AS p (${recordColumns(COLUMNS)})
           ORDER BY "paymentReference", version DESC) AS p
   CROSS JOIN generations g
   WHERE g.state IN ('serving', 'building') ORDER BY g.generation, p."paymentReference"
  ON CONFLICT (generation, payment_reference, payment_utc_date) DO UPDATE
     SET version = excluded.version, ${excludedColumns(CHANGING_COLUMNS)}
   WHERE payments.version < excluded.version`;

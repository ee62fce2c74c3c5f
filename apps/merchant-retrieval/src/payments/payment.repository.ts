import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedMerchant } from '@svc/auth';
import { buildMerchantPayment, type MerchantPayment, type PaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { last24Hours, lastThreeMonths, type Window } from './windows.js';

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

  private async find(
    statement: string,
    { merchantId, siteId, mode }: PaymentOwner,
    { from, until }: Window,
    value: string,
  ): Promise<MerchantPayment[]> {
    const rows = await this.dataSource.query<NotificationRow[]>(statement, [
      merchantId,
      mode,
      siteId ?? null,
      from,
      until,
      value,
    ]);
    return rows.map(notificationFromRow);
  }
}

/** $1 merchant, $2 mode, $3 site or NULL, $4 beginning and $5 end of the window, $6 value of the column. */
const selectByColumn = (column: string): string => `
  SELECT p.invoice_reference AS "invoiceReference", p.external_reference AS "invoiceExternalReference",
         p.currency AS "currencyISOCode", p.invoiced_amount AS "invoicedAmount", p.payment_reference AS "paymentReference",
         p.payment_utc_date AS "paymentUTCDate", p.tip_amount AS "tipAmount", p.tendered_amount AS "tenderedAmount",
         coalesce(p.site_reference,
                  (SELECT s.site_reference FROM known_sites s WHERE s.merchant_id = p.merchant_id AND s.site_id = p.site_id),
                  '') AS "siteReference",
         p.status, p.vouchers, p.first_name AS "firstName", p.last_name AS "lastName", p.site_id AS "siteId"
    FROM payments p
   WHERE p.generation = (SELECT generation FROM generations WHERE state = 'serving')
     AND p.merchant_id = $1 AND p.mode = $2 AND ($3::bigint IS NULL OR p.site_id = $3)
     AND p.payment_utc_date >= $4 AND p.payment_utc_date < $5 AND p.${column} = $6
   ORDER BY p.payment_utc_date DESC, p.payment_reference DESC`;

const BY_INVOICE = selectByColumn('invoice_reference');
const BY_EXTERNAL_REFERENCE = selectByColumn('external_reference');
const BY_PAYMENT_REFERENCE = selectByColumn('payment_reference');

type NotificationRow = Omit<MerchantPayment, 'paymentUTCDate' | 'customer'> & {
  readonly paymentUTCDate: Date;
  readonly firstName: string;
  readonly lastName: string;
};

function notificationFromRow({
  paymentUTCDate,
  firstName,
  lastName,
  siteId,
  ...row
}: NotificationRow): MerchantPayment {
  return { ...row, paymentUTCDate: paymentUTCDate.toISOString(), customer: { firstName, lastName }, siteId };
}

/** Columns of a payment that never change, with their types. Queries find payments by these columns. */
const FIXED_COLUMNS = {
  payment_reference: 'text',
  payment_utc_date: 'timestamptz',
  merchant_id: 'bigint',
  site_id: 'bigint',
  mode: 'text',
};
/** Columns that a newer version of a payment may change. */
const CHANGING_COLUMNS = {
  version: 'bigint',
  status: 'smallint',
  invoice_reference: 'text',
  external_reference: 'text',
  currency: 'text',
  invoiced_amount: 'bigint',
  tip_amount: 'bigint',
  tendered_amount: 'bigint',
  site_reference: 'text',
  vouchers: 'jsonb',
  first_name: 'text',
  last_name: 'text',
};
const COLUMNS = { ...FIXED_COLUMNS, ...CHANGING_COLUMNS };

function rowFromPayment({ payment, version }: VersionedPayment): Record<keyof typeof COLUMNS, unknown> {
  const notification = buildMerchantPayment(payment);
  return {
    payment_reference: notification.paymentReference,
    payment_utc_date: notification.paymentUTCDate,
    merchant_id: payment.merchantId,
    site_id: notification.siteId,
    mode: payment.mode,
    version,
    status: notification.status,
    invoice_reference: notification.invoiceReference,
    external_reference: notification.invoiceExternalReference,
    currency: notification.currencyISOCode,
    invoiced_amount: notification.invoicedAmount,
    tip_amount: notification.tipAmount,
    tendered_amount: notification.tenderedAmount,
    site_reference: notification.siteReference,
    vouchers: notification.vouchers,
    first_name: notification.customer.firstName,
    last_name: notification.customer.lastName,
  };
}

const COLUMN_NAMES = Object.keys(COLUMNS).join(', ');

/** $1: the payments as JSON. Writes to the serving generation and to the generation that is being built. */
const UPSERT = `
  INSERT INTO payments (generation, ${COLUMN_NAMES})
  SELECT g.generation, ${COLUMN_NAMES.replaceAll(/\w+/g, 'p.$&')}
    FROM (SELECT DISTINCT ON (payment_reference) * FROM jsonb_to_recordset($1::jsonb)
              AS p (${Object.entries(COLUMNS)
                .map(([name, type]) => `${name} ${type}`)
                .join(', ')})
           ORDER BY payment_reference, version DESC) AS p
   CROSS JOIN generations g
   WHERE g.state IN ('serving', 'building') ORDER BY g.generation, p.payment_reference
  ON CONFLICT (generation, payment_reference, payment_utc_date) DO UPDATE
     SET ${Object.keys(CHANGING_COLUMNS)
       .map((name) => `${name} = excluded.${name}`)
       .join(', ')}
   WHERE payments.version < excluded.version`;

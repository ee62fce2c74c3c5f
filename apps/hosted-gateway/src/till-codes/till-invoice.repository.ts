import { Inject, Injectable } from '@nestjs/common';
import {
  DEFAULT_MINIMUM_AMOUNT,
  type InvoiceCreated,
  type PayableSnapshot,
  type PaymentSnapshot,
} from '@svc/contracts';
import { isOwnCode, isUuid } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import { type InvoicePayment, type TillInvoice, toTillLineItem } from './till-invoice.js';

const FIND = `
  SELECT c.invoice_reference AS "invoiceReference", c.code, c.mode, c.merchant_id AS "merchantId", c.site_id AS "siteId",
         (SELECT s.merchant_name FROM known_sites s WHERE s.merchant_id = c.merchant_id AND s.site_id = c.site_id) AS "merchantName",
         c.site_reference AS "siteReference", c.external_reference AS "externalReference", c.amount, c.currency AS "currencyISOCode", coalesce(c.line_items, '[]') AS "lineItems", c.expires_at AS "expiresAt",
         c.tries_max AS "triesMax", c.payable_state AS "payableState", c.payable_version AS "payableVersion", c.tries,
         coalesce((SELECT m.features FROM known_merchants m WHERE m.merchant_id = c.merchant_id), '{}') AS features,
         coalesce((SELECT m.minimum_amount FROM known_merchants m WHERE m.merchant_id = c.merchant_id), ${DEFAULT_MINIMUM_AMOUNT}) AS "minimumAmount",
         (SELECT m.maximum_amount FROM known_merchants m WHERE m.merchant_id = c.merchant_id) AS "maximumAmount",
         ARRAY(SELECT CASE WHEN reversed_at IS NULL THEN snapshot
                           ELSE snapshot || jsonb_build_object('reversedUTCDate', reversed_at) END
                 FROM invoice_payments p WHERE p.invoice_reference = c.invoice_reference
                ORDER BY accepted_at DESC, version DESC LIMIT 100) AS payments
    FROM known_till_codes c`;

const UPSERT_PAYMENTS = `
  WITH told AS (
    SELECT value AS snapshot, value->>'paymentReference' AS payment_reference,
           (value#>>'{source,invoiceReference}')::uuid AS invoice_reference, (value->>'paymentUTCDate')::timestamptz AS accepted_at,
           (value#>>'{payable,version}')::bigint AS version
      FROM unnest($1::jsonb[]) AS value
  ), payment AS (
    INSERT INTO invoice_payments AS kept (payment_reference, invoice_reference, snapshot, accepted_at, version)
    SELECT payment_reference, invoice_reference, snapshot, accepted_at, version FROM told
    ON CONFLICT (payment_reference) DO UPDATE SET snapshot = excluded.snapshot, version = excluded.version
     WHERE kept.version < excluded.version
  )
  UPDATE known_till_codes c
     SET payable_state = newest.state, payable_version = newest.version, tries = newest.tries
    FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::int[]) AS newest(invoice_reference, state, version, tries)
   WHERE c.invoice_reference = newest.invoice_reference AND c.payable_version < newest.version`;

/** Reads and writes the invoices of tills and the copies of their payments. No other class writes them. */
@Injectable()
export class TillInvoiceRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Finds an invoice for a payer. Needs no owner, because the code cannot be guessed. Undefined until an event with the
   * merchant's name has arrived.
   */
  findByCode(code: string): Promise<TillInvoice | undefined> {
    return isOwnCode(code)
      ? this.findOne('c.code = $1 AND c.invoice_reference IS NOT NULL', [code])
      : Promise.resolve(undefined);
  }

  /** Finds an invoice of the till to which the static code belongs. Undefined also for an invoice of another till. */
  findByStaticCode(code: string, invoiceReference: string): Promise<TillInvoice | undefined> {
    return isOwnCode(code) && isUuid(invoiceReference)
      ? this.findOne(
          `c.invoice_reference = $2 AND EXISTS (
             SELECT FROM known_till_codes t
              WHERE t.code = $1 AND t.expires_at IS NULL AND t.mode = c.mode AND t.merchant_id = c.merchant_id
                AND t.site_id = c.site_id AND t.site_reference = c.site_reference)`,
          [code, invoiceReference],
        )
      : Promise.resolve(undefined);
  }

  /**
   * Finds an invoice by its reference. Only for callers that found the reference by a code: a reference in a payer's
   * request needs {@link findByStaticCode}.
   */
  find(invoiceReference: string): Promise<TillInvoice | undefined> {
    return this.findOne('c.invoice_reference = $1', [invoiceReference]);
  }

  /**
   * Stores new invoices. If payments of an invoice have arrived before the invoice, the invoice gets the state of the
   * newest payment.
   */
  async insertIfAbsent(invoices: readonly InvoiceCreated[]): Promise<void> {
    const rows = invoices.map(({ payable, lineItems }) => ({
      code: payable.source.code,
      merchantId: payable.merchantId,
      siteId: payable.siteId,
      amount: payable.amount,
      currency: payable.currencyISOCode,
      expiresAt: payable.expiresAt,
      invoiceReference: payable.payableId,
      mode: payable.mode,
      siteReference: payable.source.siteReference,
      externalReference: payable.source.externalReference,
      lineItems: lineItems?.map(toTillLineItem),
      triesMax: payable.triesMax,
    }));
    await this.dataSource.query(
      `INSERT INTO known_till_codes AS kept (code, merchant_id, site_id, amount, currency, expires_at, invoice_reference, mode,
                                             site_reference, external_reference, line_items, tries_max, payable_state, payable_version, tries)
       SELECT code, "merchantId", "siteId", amount, currency, "expiresAt", "invoiceReference", mode,
              "siteReference", "externalReference", "lineItems", "triesMax",
              coalesce(payment.state, 'open'), coalesce(payment.version, 1), coalesce(payment.tries, 0)
         FROM jsonb_to_recordset($1::jsonb) AS r(code text, "merchantId" bigint, "siteId" bigint, amount bigint, currency text,
                "expiresAt" timestamptz, "invoiceReference" uuid, mode text, "siteReference" text, "externalReference" text,
                "lineItems" jsonb, "triesMax" int)
         LEFT JOIN LATERAL (SELECT snapshot #>> '{payable,state}' AS state, version, (snapshot #>> '{payable,tries}')::int AS tries
                              FROM invoice_payments p WHERE p.invoice_reference = r."invoiceReference"
                             ORDER BY version DESC LIMIT 1) AS payment ON true
        ORDER BY code
       ON CONFLICT (code) DO NOTHING`,
      [JSON.stringify(rows)],
    );
  }

  /**
   * Stores the payments that payment-processor reported, in one statement. The newest version of each payment and
   * invoice wins, so reports may arrive twice, late or out of order. Locks rows in the order of their references, so
   * that two statements never deadlock.
   */
  async upsertPayments(payments: readonly InvoicePayment[]): Promise<void> {
    if (payments.length === 0) return;
    const newest = findNewestByKey(payments, ({ source }) => source.invoiceReference);
    await this.dataSource.query(UPSERT_PAYMENTS, [
      findNewestByKey(payments, ({ paymentReference }) => paymentReference).map(removeCustomer),
      newest.map(({ source }) => source.invoiceReference),
      newest.map(({ payable }) => payable.state),
      newest.map(({ payable }) => payable.version),
      newest.map(({ payable }) => payable.tries),
    ]);
  }

  /** Stores reversals: the refunds of charges that succeeded too late. Changes no other data of a stored payment. */
  async upsertReversals(payments: readonly InvoicePayment[]): Promise<void> {
    if (payments.length === 0) return;
    await this.dataSource.query(
      `INSERT INTO invoice_payments AS kept (payment_reference, invoice_reference, snapshot, accepted_at, version, reversed_at)
       SELECT value->>'paymentReference', (value#>>'{source,invoiceReference}')::uuid, value - 'reversedUTCDate',
              (value->>'paymentUTCDate')::timestamptz, (value#>>'{payable,version}')::bigint, (value->>'reversedUTCDate')::timestamptz
         FROM unnest($1::jsonb[]) AS value
       ON CONFLICT (payment_reference) DO UPDATE SET reversed_at = excluded.reversed_at`,
      [findNewestByKey(payments, ({ paymentReference }) => paymentReference).map(removeCustomer)],
    );
  }

  /**
   * Stores the new state of a payable that changed without a payment. The newest version wins, as in {@link
   * upsertPayments}.
   */
  async updatePayable(connection: Pick<EntityManager, 'query'>, payable: PayableSnapshot): Promise<void> {
    await connection.query(
      `UPDATE known_till_codes SET payable_state = $2, payable_version = $3, tries = $4
        WHERE invoice_reference = $1 AND payable_version < $3`,
      [payable.payableId, payable.state, payable.version, payable.tries],
    );
  }

  /** Versions of the invoices with open event streams, in one query. */
  async findVersions(invoiceReferences: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.dataSource.query<{ id: string; version: number }[]>(
      `SELECT invoice_reference AS id, payable_version AS version FROM known_till_codes WHERE invoice_reference = ANY ($1::uuid[])`,
      [invoiceReferences],
    );
    return new Map(rows.map(({ id, version }) => [id, version]));
  }

  private async findOne(condition: string, keys: readonly string[]): Promise<TillInvoice | undefined> {
    const [row] = await this.dataSource.query<(Omit<TillInvoice, 'merchantName'> & { merchantName: string | null })[]>(
      `${FIND} WHERE ${condition}`,
      [...keys],
    );
    const merchantName = row?.merchantName;
    return row && typeof merchantName === 'string' ? { ...row, merchantName } : undefined;
  }
}

/** Returns the newest payment of each key, sorted by key. */
function findNewestByKey(
  payments: readonly InvoicePayment[],
  key: (payment: InvoicePayment) => string,
): InvoicePayment[] {
  const oldestFirst = payments.toSorted((a, b) => a.payable.version - b.payable.version);
  const newest = [...new Map(oldestFirst.map((payment) => [key(payment), payment])).values()];
  return newest.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

const NO_CUSTOMER = { id: '', firstName: '', lastName: '' };

/**
 * Removes the personal data of the partner's customer, because the page only needs to know that the payment came
 * through a partner.
 */
function removeCustomer(payment: InvoicePayment): PaymentSnapshot {
  const { partner } = payment;
  return partner ? { ...payment, partner: { ...partner, customer: NO_CUSTOMER } } : payment;
}

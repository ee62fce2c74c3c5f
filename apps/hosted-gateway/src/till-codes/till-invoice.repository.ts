import { Inject, Injectable } from '@nestjs/common';
import { DEFAULT_MINIMUM_AMOUNT, type InvoiceCreated, isPartnerPayment, type PayableSnapshot } from '@svc/contracts';
import { isOwnCode, isUuid } from '@svc/kernel';
import { type ColumnMap, insertedColumns, recordColumns, recordValues, selectedColumns } from '@svc/persistence';
import { DataSource } from 'typeorm';
import {
  type PayableTables,
  PaymentCopies,
  selectPayments,
  selectTimeZones,
} from '../payment-copies/payment-copies.repository.js';
import type { PaymentCopy } from '../payment-copies/payment-copy.js';
import { type InvoicePayment, type TillInvoice, toTillLineItem } from './till-invoice.js';

type InvoiceState = Pick<TillInvoice, 'payableState' | 'payableVersion' | 'paymentCount'>;
/** The columns of an invoice that never change. */
type NewInvoice = Omit<
  TillInvoice,
  | 'merchantName'
  | 'siteName'
  | 'features'
  | 'minimumAmount'
  | 'maximumAmount'
  | 'payments'
  | 'timeZones'
  | 'expiresAt'
  | keyof InvoiceState
> & { readonly expiresAt: string };

const NEW_INVOICE: ColumnMap<keyof NewInvoice> = {
  invoiceReference: ['invoice_reference', 'uuid'],
  code: ['code', 'text'],
  mode: ['mode', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  siteId: ['site_id', 'bigint'],
  siteReference: ['site_reference', 'text'],
  externalReference: ['external_reference', 'text'],
  amount: ['amount', 'bigint'],
  currencyISOCode: ['currency', 'text'],
  lineItems: ['line_items', 'jsonb'],
  expiresAt: ['expires_at', 'timestamptz'],
  isPaymentRequest: ['is_payment_request', 'boolean'],
  maxPayments: ['max_payments', 'int'],
};
const INVOICE_STATE: ColumnMap<keyof InvoiceState> = {
  payableState: ['payable_state', 'text'],
  payableVersion: ['payable_version', 'bigint'],
  paymentCount: ['payment_count', 'int'],
};
const TABLES: PayableTables = {
  payables: 'known_invoices',
  payments: 'invoice_payments',
  id: 'invoice_reference',
};

/** Each read model is a subquery: PostgreSQL plans a join while the tables are empty, and could then read whole tables. */
const FIND = `
  SELECT ${selectedColumns(NEW_INVOICE)}, ${selectedColumns(INVOICE_STATE)},
         (SELECT merchant_name FROM known_sites s
           WHERE s.merchant_id = known_invoices.merchant_id AND s.site_id = known_invoices.site_id) AS "merchantName",
         (SELECT name FROM known_sites s
           WHERE s.merchant_id = known_invoices.merchant_id AND s.site_id = known_invoices.site_id) AS "siteName",
         coalesce((SELECT features FROM known_merchants m WHERE m.merchant_id = known_invoices.merchant_id), '{}') AS features,
         coalesce((SELECT minimum_amount FROM known_merchants m WHERE m.merchant_id = known_invoices.merchant_id), ${DEFAULT_MINIMUM_AMOUNT}) AS "minimumAmount",
         (SELECT maximum_amount FROM known_merchants m WHERE m.merchant_id = known_invoices.merchant_id) AS "maximumAmount",
         ${selectPayments(TABLES)}, ${selectTimeZones(TABLES)}
    FROM known_invoices`;

/** Reads and writes the invoices of tills and the copies of their payments. No other class writes them. */
@Injectable()
export class TillInvoiceRepository {
  private readonly copies: PaymentCopies;

  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {
    this.copies = new PaymentCopies(dataSource, TABLES);
  }

  /**
   * Finds an invoice for a payer. Needs no owner, because the code cannot be guessed. Undefined until an event with the
   * merchant's name has arrived.
   */
  async findByCode(code: string): Promise<TillInvoice | undefined> {
    return isOwnCode(code) ? this.findOne('code = $1', [code]) : undefined;
  }

  /** Finds an invoice of the till to which the static code belongs. Undefined also for an invoice of another till, and for a payment request. */
  async findByStaticCode(code: string, invoiceReference: string): Promise<TillInvoice | undefined> {
    if (!isOwnCode(code) || !isUuid(invoiceReference)) return undefined;
    return this.findOne(
      `invoice_reference = $2 AND NOT is_payment_request AND EXISTS (
         SELECT FROM known_till_codes till
          WHERE till.code = $1 AND till.mode = known_invoices.mode AND till.merchant_id = known_invoices.merchant_id
            AND till.site_id = known_invoices.site_id AND till.site_reference = known_invoices.site_reference)`,
      [code, invoiceReference],
    );
  }

  /**
   * Finds an invoice by its reference. Only for callers that found the reference by a code: a reference in a payer's
   * request needs {@link findByStaticCode}.
   */
  find(invoiceReference: string): Promise<TillInvoice | undefined> {
    return this.findOne('invoice_reference = $1', [invoiceReference]);
  }

  /**
   * Stores new invoices. If payments of an invoice have arrived before the invoice, the invoice gets the state of the
   * newest payment.
   */
  async insertIfAbsent(created: readonly InvoiceCreated[]): Promise<void> {
    const invoices = created.map(({ payable, lineItems = [], requestedBy }): NewInvoice => ({
      invoiceReference: payable.payableId,
      code: payable.source.code,
      mode: payable.mode,
      merchantId: payable.merchantId,
      siteId: payable.siteId,
      siteReference: payable.source.siteReference,
      externalReference: payable.source.externalReference ?? null,
      amount: payable.amount,
      currencyISOCode: payable.currencyISOCode,
      lineItems: lineItems.map(toTillLineItem),
      expiresAt: payable.expiresAt,
      isPaymentRequest: requestedBy !== undefined,
      maxPayments: payable.maxPayments,
    }));
    await this.dataSource.query(
      `INSERT INTO known_invoices (${insertedColumns(NEW_INVOICE)}, ${insertedColumns(INVOICE_STATE)})
       SELECT ${recordValues(NEW_INVOICE, 'new')}, coalesce(payment.state, 'open'), coalesce(payment.version, 1),
              coalesce(payment.payment_count, 0)
         FROM jsonb_to_recordset($1::jsonb) AS new(${recordColumns(NEW_INVOICE)})
         LEFT JOIN LATERAL (SELECT snapshot #>> '{payable,state}' AS state, version,
                                   (snapshot #>> '{payable,paymentCount}')::int AS payment_count
                              FROM invoice_payments p WHERE p.invoice_reference = new."invoiceReference"
                             ORDER BY version DESC LIMIT 1) AS payment ON true
        ORDER BY "invoiceReference"
       ON CONFLICT (invoice_reference) DO NOTHING`,
      [JSON.stringify(invoices)],
    );
  }

  upsertPayments(payments: readonly PaymentCopy[]): Promise<void> {
    return this.copies.upsert(payments.map(removeCustomer));
  }

  upsertReversals(payments: readonly InvoicePayment[]): Promise<void> {
    return this.copies.upsertReversals(payments.map(removeCustomer));
  }

  updatePayable(payable: PayableSnapshot): Promise<void> {
    return this.copies.updatePayable(payable);
  }

  findVersions(invoiceReferences: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.copies.findVersions(invoiceReferences);
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

const NO_CUSTOMER = { id: '', firstName: '', lastName: '' };

/**
 * Removes the personal data of the partner's customer, because the page only needs to know that the payment came
 * through a partner.
 */
function removeCustomer<P extends PaymentCopy>(payment: P): P {
  return isPartnerPayment(payment) ? { ...payment, partner: { ...payment.partner, customer: NO_CUSTOMER } } : payment;
}

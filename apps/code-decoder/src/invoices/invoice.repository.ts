import { Inject, Injectable } from '@nestjs/common';
import { InvoiceCreatedV1, type Mode, type PayableSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { isForeignKeyViolation } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { createPayableDescriptor, type StoredInvoice } from './invoice.js';
import { REQUEST_RETENTION_MS, type RequestIdentity } from './request-identity.js';

/** The owner of an invoice. A query for another owner does not find the invoice. */
export interface InvoiceOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

const COLUMNS = `i.invoice_id AS "invoiceId", i.mode, i.merchant_id AS "merchantId", i.site_id AS "siteId",
  i.site_reference AS "siteReference", i.external_reference AS "externalReference", i.fingerprint, i.code, i.amount,
  i.currency AS "currencyISOCode", i.line_items AS "lineItems", i.origin, i.origin_reference AS "originReference",
  i.created_utc_date AS "createdUTCDate", i.made_at AS "madeAt", i.expires_at AS "expiresAt",
  i.payable_state AS "payableState", i.payable_version AS "payableVersion", i.closed_at AS "closedAt"`;

const CREATE = statementWithEvents({
  writes: `remembered AS (
         INSERT INTO invoice_requests AS r (merchant_id, site_id, mode, request_id, fingerprint, invoice_id, created_at)
         SELECT $merchantId::bigint, $siteId::bigint, $mode, new.request_id, new.fingerprint, $invoiceId::uuid, $madeAt::timestamptz
           FROM unnest($requestIds::text[], $requestFingerprints::text[]) AS new(request_id, fingerprint)
         ON CONFLICT (merchant_id, site_id, mode, request_id) DO UPDATE
            SET fingerprint = excluded.fingerprint, invoice_id = excluded.invoice_id, created_at = excluded.created_at
          WHERE r.created_at <= $forgottenAt OR (r.invoice_id = $expiredInvoiceId AND r.request_id LIKE 'body:%')
         RETURNING 1
       ), made AS (
         INSERT INTO invoices (invoice_id, mode, merchant_id, site_id, site_reference, external_reference, fingerprint, code, amount,
                               currency, line_items, origin, origin_reference, created_utc_date, made_at, expires_at,
                               payable_state, payable_version)
         SELECT $invoiceId::uuid, $mode, $merchantId::bigint, $siteId::bigint, $siteReference, $externalReference, $fingerprint, $code,
                $amount::bigint, $currency, $lineItems::jsonb, $origin, $originReference, $createdUTCDate::timestamptz, $madeAt::timestamptz,
                $expiresAt::timestamptz, $payableState, $payableVersion::bigint
          WHERE (SELECT count(*) FROM remembered) = cardinality($requestIds::text[])
         ON CONFLICT (site_id, mode, external_reference) WHERE payable_state IN ('open', 'reserved') DO NOTHING
         RETURNING invoice_id
       )`,
  changed: 'made',
  aggregateId: 'invoice_id',
});

/** Reads and writes invoices. */
@Injectable()
export class InvoiceRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Writes the invoice, its event and the identities of its request in one statement. Returns false, and writes
   * nothing, if the site has another open or reserved invoice with this externalReference, or if another request with
   * one of the identities has created an invoice. The request of the invoice `expiredInvoiceId` may be repeated.
   */
  async create(
    invoice: StoredInvoice,
    requests: readonly RequestIdentity[] = [],
    expiredInvoiceId?: string,
  ): Promise<boolean> {
    const event = this.events.newEnvelope({
      type: InvoiceCreatedV1,
      aggregateId: invoice.invoiceId,
      aggregateVersion: 1,
      payload: {
        payable: createPayableDescriptor(invoice),
        origin: invoice.origin,
        ...(invoice.originReference === null ? {} : { originReference: invoice.originReference }),
        createdUTCDate: invoice.createdUTCDate.toISOString(),
        ...(invoice.lineItems === null ? {} : { lineItems: [...invoice.lineItems] }),
      },
    });
    const parameters = {
      invoiceId: invoice.invoiceId,
      mode: invoice.mode,
      merchantId: invoice.merchantId,
      siteId: invoice.siteId,
      siteReference: invoice.siteReference,
      externalReference: invoice.externalReference,
      fingerprint: invoice.fingerprint,
      code: invoice.code,
      amount: invoice.amount,
      currency: invoice.currencyISOCode,
      lineItems: invoice.lineItems === null ? null : JSON.stringify(invoice.lineItems),
      origin: invoice.origin,
      originReference: invoice.originReference,
      createdUTCDate: invoice.createdUTCDate,
      madeAt: invoice.madeAt,
      expiresAt: invoice.expiresAt,
      payableState: invoice.payableState,
      payableVersion: invoice.payableVersion,
      requestIds: requests.map(({ requestId }) => requestId),
      requestFingerprints: requests.map(({ fingerprint }) => fingerprint),
      forgottenAt: this.clock.later(-REQUEST_RETENTION_MS),
      expiredInvoiceId: expiredInvoiceId ?? null,
    };
    try {
      const created = await this.events.write(this.dataSource, CREATE, parameters, [event]);
      return created.length > 0;
    } catch (error) {
      // An identity was stored, but the invoice was not: the foreign key undoes the whole statement.
      if (isForeignKeyViolation(error, 'invoice_requests_invoice')) return false;
      throw error;
    }
  }

  async findOwned(owner: InvoiceOwner, invoiceId: string): Promise<StoredInvoice | undefined> {
    const [row] = await this.dataSource.query<StoredInvoice[]>(
      `SELECT ${COLUMNS} FROM invoices i WHERE i.invoice_id = $1 AND i.merchant_id = $2 AND i.site_id = $3 AND i.mode = $4`,
      [invoiceId, owner.merchantId, owner.siteId, owner.mode],
    );
    return row;
  }

  /**
   * Returns the open or reserved invoice with this externalReference. If none is open or reserved, returns the newest.
   * The open invoice is not always the newest: the clocks of replicas differ, so a replacement may have an earlier time
   * than the replaced invoice. A till may use a reference for years, so each half of the query must read at most one
   * row.
   */
  async findByExternalReference(owner: InvoiceOwner, externalReference: string): Promise<StoredInvoice | undefined> {
    const [row] = await this.dataSource.query<StoredInvoice[]>(
      `(SELECT ${COLUMNS}, 1 AS rank FROM invoices i
         WHERE i.site_id = $1 AND i.mode = $2 AND i.external_reference = $3 AND i.merchant_id = $4
           AND i.payable_state IN ('open', 'reserved'))
       UNION ALL
       (SELECT ${COLUMNS}, 2 FROM invoices i
         WHERE i.site_id = $1 AND i.mode = $2 AND i.external_reference = $3 AND i.merchant_id = $4
         ORDER BY i.made_at DESC, i.invoice_id DESC LIMIT 1)
       ORDER BY rank LIMIT 1`,
      [owner.siteId, owner.mode, externalReference, owner.merchantId],
    );
    return row;
  }

  /** Does not check an owner, because any person who sees a code may decode it. */
  async findByCode(mode: Mode, code: string): Promise<StoredInvoice | undefined> {
    const [row] = await this.dataSource.query<StoredInvoice[]>(
      `SELECT ${COLUMNS} FROM invoices i WHERE i.code = $1 AND i.mode = $2`,
      [code, mode],
    );
    return row;
  }

  /**
   * The newest open invoice at the till of this static code (D5). If `mode` is undefined, the mode of the till's code
   * is used. The statement has no join: PostgreSQL plans it while the tables are empty, and the plan of a join would
   * read all open invoices.
   */
  async findByTillCode(mode: Mode | undefined, code: string): Promise<StoredInvoice | undefined> {
    const [row] = await this.dataSource.query<StoredInvoice[]>(
      `SELECT ${COLUMNS} FROM invoices i
        WHERE (i.site_id, i.mode, i.site_reference)
              = (SELECT site_id, mode, site_reference FROM till_codes WHERE code = $1 AND mode = coalesce($2, mode))
          AND i.closed_at IS NULL AND i.expires_at > $3
        ORDER BY i.made_at DESC, i.invoice_id DESC LIMIT 1`,
      [code, mode ?? null, this.clock.now()],
    );
    return row;
  }

  /**
   * Stores the states of payables that payment-processor reported, in one statement. The newest version of each invoice
   * wins.
   */
  async applyPayableChanges(changes: readonly PayableChange[]): Promise<void> {
    const newest = [
      ...new Map(
        changes
          .toSorted((a, b) => a.payable.version - b.payable.version)
          .map((change) => [change.payable.payableId, change]),
      ).values(),
    ];
    if (newest.length === 0) return;
    await this.dataSource.query(
      `UPDATE invoices i
          SET payable_state = told.state, payable_version = told.version,
              closed_at = CASE WHEN told.state IN ('paid', 'refused', 'closed') THEN told.at END
         FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::timestamptz[]) AS told(invoice_id, state, version, at)
        WHERE i.invoice_id = told.invoice_id AND i.payable_version < told.version`,
      [
        newest.map(({ payable }) => payable.payableId),
        newest.map(({ payable }) => payable.state),
        newest.map(({ payable }) => payable.version),
        newest.map(({ at }) => at),
      ],
    );
  }
}

/** A new state of a payable, and its time (ISO 8601 UTC). */
export interface PayableChange {
  readonly payable: PayableSnapshot;
  readonly at: string;
}

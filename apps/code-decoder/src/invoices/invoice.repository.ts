import { Inject, Injectable } from '@nestjs/common';
import { InvoiceCreatedV1, type Mode, type PayableSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import {
  type ColumnMap,
  insertedColumns,
  isForeignKeyViolation,
  recordColumns,
  recordValues,
  selectedColumns,
  type Transaction,
} from '@svc/persistence';
import { DataSource } from 'typeorm';
import { createPayableDescriptor, type StoredInvoice } from './invoice.js';
import { REQUEST_RETENTION_MS, type RequestIdentity } from './request-identity.js';

/** The owner of an invoice. A query for another owner does not find the invoice. */
export interface InvoiceOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

const COLUMNS: ColumnMap<keyof StoredInvoice> = {
  invoiceId: ['invoice_id', 'uuid'],
  mode: ['mode', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  siteId: ['site_id', 'bigint'],
  siteReference: ['site_reference', 'text'],
  externalReference: ['external_reference', 'text'],
  invoiceFingerprint: ['invoice_fingerprint', 'text'],
  code: ['code', 'text'],
  amount: ['amount', 'bigint'],
  currencyISOCode: ['currency', 'text'],
  lineItems: ['line_items', 'jsonb'],
  origin: ['origin', 'text'],
  originReference: ['origin_reference', 'text'],
  createdUTCDate: ['created_utc_date', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
  payableState: ['payable_state', 'text'],
  payableVersion: ['payable_version', 'bigint'],
  closedAt: ['closed_at', 'timestamptz'],
  requestedBy: ['requested_by', 'uuid'],
};
const SELECT = `SELECT ${selectedColumns(COLUMNS)}`;

const CREATE = statementWithEvents({
  writes: `new AS (
         SELECT * FROM jsonb_to_record($invoice) AS invoice(${recordColumns(COLUMNS)})
       ), remembered AS (
         INSERT INTO invoice_requests AS r (merchant_id, site_id, mode, request_id, request_fingerprint, invoice_id, created_at)
         SELECT new."merchantId", new."siteId", new.mode, request.id, request.fingerprint, new."invoiceId", new."createdAt"
           FROM new, unnest($requestIds::text[], $requestFingerprints::text[]) AS request(id, fingerprint)
         ON CONFLICT (merchant_id, site_id, mode, request_id) DO UPDATE
            SET request_fingerprint = excluded.request_fingerprint, invoice_id = excluded.invoice_id, created_at = excluded.created_at
          WHERE r.created_at <= $deletableAt OR (r.invoice_id = $expiredInvoiceId AND r.request_id LIKE 'body:%')
         RETURNING 1
       ), created AS (
         INSERT INTO invoices (${insertedColumns(COLUMNS)})
         SELECT ${recordValues(COLUMNS, 'new')} FROM new
          WHERE (SELECT count(*) FROM remembered) = cardinality($requestIds::text[])
         ON CONFLICT (site_id, mode, external_reference) WHERE payable_state IN ('open', 'reserved') DO NOTHING
         RETURNING invoice_id
       )`,
  changed: 'created',
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

  /** As {@link createIn}, in a transaction of its own. */
  async create(
    invoice: StoredInvoice,
    requests: readonly RequestIdentity[] = [],
    expiredInvoiceId?: string,
  ): Promise<boolean> {
    try {
      return await this.createIn(this.dataSource, invoice, requests, expiredInvoiceId);
    } catch (error) {
      if (isReferenceTaken(error)) return false;
      throw error;
    }
  }

  /**
   * Writes the invoice, its event and the identities of its request in one statement. Returns false, and writes
   * nothing, if the site has another open or reserved invoice with this externalReference, or if another request with
   * one of the identities has created an invoice. The request of the invoice `expiredInvoiceId` may be repeated.
   *
   * Throws an error that {@link isReferenceTaken} recognises if the identities are new and the externalReference is not.
   */
  async createIn(
    connection: DataSource | Transaction,
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
        ...(invoice.requestedBy === null ? {} : { requestedBy: invoice.requestedBy }),
      },
    });
    const parameters = {
      invoice: JSON.stringify(invoice),
      requestIds: requests.map(({ requestId }) => requestId),
      requestFingerprints: requests.map(({ requestFingerprint }) => requestFingerprint),
      deletableAt: this.clock.later(-REQUEST_RETENTION_MS),
      expiredInvoiceId: expiredInvoiceId ?? null,
    };
    const created = await this.events.write(connection, CREATE, parameters, [event]);
    return created.length > 0;
  }

  async findOwned(owner: InvoiceOwner, invoiceId: string): Promise<StoredInvoice | undefined> {
    const [row] = await this.dataSource.query<StoredInvoice[]>(
      `${SELECT} FROM invoices WHERE invoice_id = $1 AND merchant_id = $2 AND site_id = $3 AND mode = $4`,
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
      `(${SELECT}, 1 AS rank FROM invoices
         WHERE site_id = $1 AND mode = $2 AND external_reference = $3 AND merchant_id = $4
           AND payable_state IN ('open', 'reserved'))
       UNION ALL
       (${SELECT}, 2 FROM invoices
         WHERE site_id = $1 AND mode = $2 AND external_reference = $3 AND merchant_id = $4
         ORDER BY created_at DESC, invoice_id DESC LIMIT 1)
       ORDER BY rank LIMIT 1`,
      [owner.siteId, owner.mode, externalReference, owner.merchantId],
    );
    return row;
  }

  /** Remembers who cancelled a payment request. False if a person had cancelled it before. */
  async setCancelledBy(tx: Transaction, owner: InvoiceOwner, invoiceId: string, personId: string): Promise<boolean> {
    const [, count] = await tx.query<[unknown[], number]>(
      `UPDATE invoices SET cancelled_by = $5
        WHERE invoice_id = $1 AND merchant_id = $2 AND site_id = $3 AND mode = $4
          AND payable_state = 'closed' AND requested_by IS NOT NULL AND cancelled_by IS NULL`,
      [invoiceId, owner.merchantId, owner.siteId, owner.mode, personId],
    );
    return count === 1;
  }

  /** Does not check an owner, because any person who sees a code may decode it. */
  async findByCode(mode: Mode, code: string): Promise<StoredInvoice | undefined> {
    const [row] = await this.dataSource.query<StoredInvoice[]>(
      `${SELECT} FROM invoices WHERE code = $1 AND mode = $2`,
      [code, mode],
    );
    return row;
  }

  /**
   * The newest open invoice at the till of this static code (D5), which is never a payment request (D7). If `mode` is undefined, the mode of the till's code
   * is used. The statement has no join: PostgreSQL plans it while the tables are empty, and the plan of a join would
   * read all open invoices.
   */
  async findByTillCode(mode: Mode | undefined, code: string): Promise<StoredInvoice | undefined> {
    const [row] = await this.dataSource.query<StoredInvoice[]>(
      `${SELECT} FROM invoices
        WHERE (site_id, mode, site_reference)
              = (SELECT site_id, mode, site_reference FROM till_codes WHERE code = $1 AND mode = coalesce($2, mode))
          AND closed_at IS NULL AND requested_by IS NULL AND expires_at > $3
        ORDER BY created_at DESC, invoice_id DESC LIMIT 1`,
      [code, mode ?? null, this.clock.now()],
    );
    return row;
  }

  /**
   * Stores the states of payables that payment-processor reported, in one statement. The newest version of each invoice
   * wins.
   */
  async applyPayableChanges(
    changes: readonly PayableChange[],
    connection: DataSource | Transaction = this.dataSource,
  ): Promise<void> {
    const newest = [
      ...new Map(
        changes
          .toSorted((a, b) => a.payable.version - b.payable.version)
          .map((change) => [change.payable.payableId, change]),
      ).values(),
    ];
    if (newest.length === 0) return;
    await connection.query(
      `UPDATE invoices i
          SET payable_state = reported.state, payable_version = reported.version,
              closed_at = CASE WHEN reported.state IN ('paid', 'refused', 'closed') THEN reported.at END
         FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::timestamptz[]) AS reported(invoice_id, state, version, at)
        WHERE i.invoice_id = reported.invoice_id AND i.payable_version < reported.version`,
      [
        newest.map(({ payable }) => payable.payableId),
        newest.map(({ payable }) => payable.state),
        newest.map(({ payable }) => payable.version),
        newest.map(({ at }) => at),
      ],
    );
  }
}

/**
 * Whether the site has another open or reserved invoice with the externalReference: an identity was stored, but the
 * invoice was not, so the foreign key has undone the whole statement.
 */
export function isReferenceTaken(error: unknown): boolean {
  return isForeignKeyViolation(error, 'invoice_requests_invoice');
}

/** A new state of a payable, and its time (ISO 8601 UTC). */
interface PayableChange {
  readonly payable: PayableSnapshot;
  readonly at: string;
}

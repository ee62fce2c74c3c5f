import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { InvoiceOwner } from './invoice.repository.js';
import { REQUEST_RETENTION_MS, type RequestIdentity } from './request-identity.js';

const DELETE_BATCH_SIZE = 1_000;

/** A request that has created, or returned, an invoice. */
interface RememberedRequest extends RequestIdentity {
  readonly invoiceId: string;
}

/** Reads and deletes the requests that InvoiceRepository.create stores, and stores requests that created no invoice. */
@Injectable()
export class InvoiceRequestRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The requests of the last 72 hours with these identities. */
  async find(owner: InvoiceOwner, requests: readonly RequestIdentity[]): Promise<RememberedRequest[]> {
    if (requests.length === 0) return [];
    return this.dataSource.query<RememberedRequest[]>(
      // PostgreSQL 15 would filter all requests of the site by "request_id = ANY", and a join would be
      // reversed. OFFSET 0 forces one look-up in the index for each id.
      `SELECT r.request_id AS "requestId", r.request_fingerprint AS "requestFingerprint", r.invoice_id AS "invoiceId"
         FROM unnest($4::text[]) AS wanted (request_id)
         CROSS JOIN LATERAL (SELECT request_id, request_fingerprint, invoice_id FROM invoice_requests
                              WHERE merchant_id = $1 AND site_id = $2 AND mode = $3
                                AND request_id = wanted.request_id AND created_at > $5 OFFSET 0) r`,
      [
        owner.merchantId,
        owner.siteId,
        owner.mode,
        requests.map(({ requestId }) => requestId),
        this.clock.later(-REQUEST_RETENTION_MS),
      ],
    );
  }

  /**
   * Stores that a request with these identities has returned an existing invoice. Also replaces a body that is stored for
   * the invoice `expiredInvoiceId`. Returns false if one of the identities was stored within the last 72 hours: the
   * others are stored nevertheless.
   */
  async insertIfAbsent(
    owner: InvoiceOwner,
    requests: readonly RequestIdentity[],
    invoiceId: string,
    expiredInvoiceId?: string,
  ): Promise<boolean> {
    if (requests.length === 0) return true;
    const rows = await this.dataSource.query<unknown[]>(
      `INSERT INTO invoice_requests AS r (merchant_id, site_id, mode, request_id, request_fingerprint, invoice_id, created_at)
       SELECT $1, $2, $3, new.request_id, new.request_fingerprint, $6, $7
         FROM unnest($4::text[], $5::text[]) AS new (request_id, request_fingerprint)
       ON CONFLICT (merchant_id, site_id, mode, request_id) DO UPDATE
          SET request_fingerprint = excluded.request_fingerprint, invoice_id = excluded.invoice_id, created_at = excluded.created_at
        WHERE r.created_at <= $8 OR (r.invoice_id = $9 AND r.request_id LIKE 'body:%')
       RETURNING 1`,
      [
        owner.merchantId,
        owner.siteId,
        owner.mode,
        requests.map(({ requestId }) => requestId),
        requests.map(({ requestFingerprint }) => requestFingerprint),
        invoiceId,
        this.clock.now(),
        this.clock.later(-REQUEST_RETENTION_MS),
        expiredInvoiceId ?? null,
      ],
    );
    return rows.length === requests.length;
  }

  /** Deletes a batch of expired requests. Returns false if no request was expired. Replicas may call it concurrently. */
  async deleteExpired(): Promise<boolean> {
    const [{ removed }] = await this.dataSource.query<[{ removed: number }]>(
      `WITH old AS (
         SELECT merchant_id, site_id, mode, request_id FROM invoice_requests
          WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
       ), gone AS (
         DELETE FROM invoice_requests r USING old
          WHERE (r.merchant_id, r.site_id, r.mode, r.request_id) = (old.merchant_id, old.site_id, old.mode, old.request_id)
         RETURNING 1
       )
       SELECT count(*) AS removed FROM gone`,
      [this.clock.later(-REQUEST_RETENTION_MS), DELETE_BATCH_SIZE],
    );
    return removed > 0;
  }
}

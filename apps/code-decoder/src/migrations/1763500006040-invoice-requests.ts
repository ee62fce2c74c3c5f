import type { MigrationInterface, QueryRunner } from 'typeorm';

export class InvoiceRequests1763500006040 implements MigrationInterface {
  readonly name = 'InvoiceRequests1763500006040';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE invoice_requests (
        merchant_id bigint      NOT NULL,
        site_id     bigint      NOT NULL,
        mode        text        NOT NULL CONSTRAINT invoice_requests_mode CHECK (mode IN ('test', 'live')),
        request_id  text        NOT NULL CONSTRAINT invoice_requests_request_id CHECK (request_id ~ '^(body:[0-9a-f]{64}|key:.{1,100})$'),
        fingerprint text        NOT NULL CONSTRAINT invoice_requests_fingerprint CHECK (length(fingerprint) = 64),
        invoice_id  uuid        NOT NULL CONSTRAINT invoice_requests_invoice REFERENCES invoices,
        created_at  timestamptz NOT NULL,
        PRIMARY KEY (merchant_id, site_id, mode, request_id)
      );
      COMMENT ON TABLE invoice_requests IS 'Requests that created an invoice, so that a repeated request creates no second invoice (D6). Rows are deleted after 72 hours.';
      COMMENT ON COLUMN invoice_requests.request_id IS 'The Idempotency-Key, or the SHA-256 of the body if it has an externalReference.';
      COMMENT ON COLUMN invoice_requests.fingerprint IS 'SHA-256 of the validated request without its date. A request with the same Idempotency-Key must have the same fingerprint.';
      CREATE INDEX invoice_requests_by_time ON invoice_requests (created_at);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}

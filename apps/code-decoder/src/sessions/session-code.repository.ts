import { Inject, Injectable } from '@nestjs/common';
import type { Mode, PayableDescriptor } from '@svc/contracts';
import { DataSource } from 'typeorm';

/** The data of a hosted session that decoding its code requires. */
export interface CodedSession {
  /** UUID. It is also the id of the session's payable. */
  readonly sessionId: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  /** Site reference of the merchant's web shop. Null until the event of the identity service has arrived. */
  readonly siteReference: string | null;
  readonly merchantOrderId: string;
  /** In cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
  /** Creation time. */
  readonly madeAt: Date;
  readonly expiresAt: Date;
  /** Time at which the session was paid, refused or cancelled. */
  readonly closedAt: Date | null;
}

/** A session that was created or extended, and the time of the event (ISO 8601 UTC). */
export interface SessionVersion {
  readonly payable: PayableDescriptor;
  readonly at: string;
}

/**
 * The codes of hosted sessions. A row is written by events of two services, in any order: hosted-gateway publishes the
 * session, and payment-processor publishes its closing time. The row does not state whether a payment is in progress,
 * because this would require two writes for each payment of the platform. CheckExpiredSession queries payment-processor
 * when necessary.
 */
@Injectable()
export class SessionCodeRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Does not check an owner, because any person who sees a code may decode it. The statement has no join: PostgreSQL
   * plans it while the tables are empty, and the plan of a join could read all sites.
   */
  async findByCode(mode: Mode, code: string): Promise<CodedSession | undefined> {
    const [row] = await this.dataSource.query<CodedSession[]>(
      `SELECT c.session_id AS "sessionId", c.mode, c.merchant_id AS "merchantId", c.site_id AS "siteId",
              (SELECT site_reference FROM known_sites s WHERE s.merchant_id = c.merchant_id AND s.site_id = c.site_id) AS "siteReference",
              c.merchant_order_id AS "merchantOrderId", c.amount,
              c.currency AS "currencyISOCode", c.made_at AS "madeAt", c.expires_at AS "expiresAt", c.closed_at AS "closedAt"
         FROM session_codes c WHERE c.code = $1 AND c.mode = $2`,
      [code, mode],
    );
    return row;
  }

  /** Inserts new sessions. Ignores sessions of earlier releases, which have no code. */
  async insertIfAbsent(sessions: readonly SessionVersion[]): Promise<void> {
    const withCode = sessions.filter(({ payable }) => payable.source.code !== undefined);
    if (withCode.length === 0) return;
    await this.dataSource.query(
      `INSERT INTO session_codes AS kept (session_id, code, mode, merchant_id, site_id, merchant_order_id, amount, currency, made_at, expires_at)
       SELECT "payableId", source->>'code', mode, "merchantId", "siteId", source->>'merchantOrderId', amount, "currencyISOCode", at, "expiresAt"
         FROM jsonb_to_recordset($1::jsonb) AS made("payableId" uuid, mode text, "merchantId" bigint, "siteId" bigint, amount bigint,
              "currencyISOCode" text, "expiresAt" timestamptz, source jsonb, at timestamptz)
       ON CONFLICT (session_id) DO UPDATE
          SET code = excluded.code, mode = excluded.mode, merchant_id = excluded.merchant_id, site_id = excluded.site_id,
              merchant_order_id = excluded.merchant_order_id, amount = excluded.amount, currency = excluded.currency,
              made_at = excluded.made_at, expires_at = excluded.expires_at
        WHERE kept.code IS NULL`,
      [JSON.stringify(withCode.map(({ payable, at }) => ({ ...payable, at })))],
    );
  }

  /** Stores extended expiry times: the latest wins. Inserts sessions that do not exist yet. */
  async extend(sessions: readonly SessionVersion[]): Promise<void> {
    await this.insertIfAbsent(sessions);
    await this.dataSource.query(
      `UPDATE session_codes kept SET expires_at = longer.expires_at
         FROM unnest($1::uuid[], $2::timestamptz[]) AS longer(session_id, expires_at)
        WHERE kept.session_id = longer.session_id AND kept.expires_at < longer.expires_at`,
      [sessions.map(({ payable }) => payable.payableId), sessions.map(({ payable }) => payable.expiresAt)],
    );
  }

  /**
   * Stores the closing times of sessions. Skips the ids of invoices, because an event does not state whether a payable
   * belongs to a session or an invoice. The first closing time wins, because a closed payable stays closed.
   */
  async close(closed: readonly { readonly sessionId: string; readonly at: string }[]): Promise<void> {
    const firstTimes = new Map(closed.toReversed().map(({ sessionId, at }) => [sessionId, at]));
    if (firstTimes.size === 0) return;
    await this.dataSource.query(
      `INSERT INTO session_codes AS kept (session_id, closed_at)
       SELECT told.session_id, told.at FROM unnest($1::uuid[], $2::timestamptz[]) AS told(session_id, at)
        WHERE NOT EXISTS (SELECT 1 FROM invoices i WHERE i.invoice_id = told.session_id)
       ON CONFLICT (session_id) DO UPDATE SET closed_at = excluded.closed_at WHERE kept.closed_at IS NULL`,
      [[...firstTimes.keys()], [...firstTimes.values()]],
    );
  }
}

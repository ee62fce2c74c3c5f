import { Inject, Injectable } from '@nestjs/common';
import type { HostedPayableDescriptor, Mode } from '@svc/contracts';
import {
  type ColumnMap,
  excludedColumns,
  insertedColumns,
  recordColumns,
  recordValues,
  selectedColumns,
} from '@svc/persistence';
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
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Time at which the session was paid, refused or cancelled. */
  readonly closedAt: Date | null;
}

/** A session that was created or extended, and the time of the event (ISO 8601 UTC). */
interface SessionVersion {
  readonly payable: HostedPayableDescriptor;
  readonly at: string;
}

const COLUMNS: ColumnMap<Exclude<keyof CodedSession, 'siteReference' | 'closedAt'> | 'code'> = {
  sessionId: ['session_id', 'uuid'],
  code: ['code', 'text'],
  mode: ['mode', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  siteId: ['site_id', 'bigint'],
  merchantOrderId: ['merchant_order_id', 'text'],
  amount: ['amount', 'bigint'],
  currencyISOCode: ['currency', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
};

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
      `SELECT ${selectedColumns(COLUMNS)}, c.closed_at AS "closedAt",
              (SELECT site_reference FROM known_sites s WHERE s.merchant_id = c.merchant_id AND s.site_id = c.site_id) AS "siteReference"
         FROM session_codes c WHERE c.code = $1 AND c.mode = $2`,
      [code, mode],
    );
    return row;
  }

  /** Inserts new sessions, also if their closing times have arrived before. */
  async insertIfAbsent(sessions: readonly SessionVersion[]): Promise<void> {
    const rows = sessions.map(({ payable, at }) => ({
      ...payable,
      sessionId: payable.payableId,
      code: payable.source.code,
      merchantOrderId: payable.source.merchantOrderId,
      createdAt: at,
    }));
    await this.dataSource.query(
      `INSERT INTO session_codes AS stored (${insertedColumns(COLUMNS)})
       SELECT ${recordValues(COLUMNS, 'new')} FROM jsonb_to_recordset($1::jsonb) AS new(${recordColumns(COLUMNS)})
       ON CONFLICT (session_id) DO UPDATE SET ${excludedColumns(COLUMNS)}
        WHERE stored.code IS NULL`,
      [JSON.stringify(rows)],
    );
  }

  /** Stores extended expiry times: the latest wins. Inserts sessions that do not exist yet. */
  async extend(sessions: readonly SessionVersion[]): Promise<void> {
    await this.insertIfAbsent(sessions);
    await this.dataSource.query(
      `UPDATE session_codes stored SET expires_at = extended.expires_at
         FROM unnest($1::uuid[], $2::timestamptz[]) AS extended(session_id, expires_at)
        WHERE stored.session_id = extended.session_id AND stored.expires_at < extended.expires_at`,
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
      `INSERT INTO session_codes AS stored (session_id, closed_at)
       SELECT reported.session_id, reported.at FROM unnest($1::uuid[], $2::timestamptz[]) AS reported(session_id, at)
        WHERE NOT EXISTS (SELECT 1 FROM invoices i WHERE i.invoice_id = reported.session_id)
       ON CONFLICT (session_id) DO UPDATE SET closed_at = excluded.closed_at WHERE stored.closed_at IS NULL`,
      [[...firstTimes.keys()], [...firstTimes.values()]],
    );
  }
}

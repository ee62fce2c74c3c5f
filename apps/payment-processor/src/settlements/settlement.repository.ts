import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { inTransaction, useDefaultPlanner } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { MovementSum, MovementType } from './settlement.js';
import type { SettlementDay } from './settlement-day.js';

/** Owner of movements: a merchant in one mode, or one of its sites. */
export interface SettlementOwner {
  readonly merchantId: number;
  readonly mode: Mode;
  /** Undefined: all sites of the merchant. */
  readonly siteId: number | undefined;
}

/** One movement on the merchant's balance. */
export interface Movement {
  readonly createdUTCDate: string;
  readonly type: MovementType;
  /** The payment reference (C3). */
  readonly svcId: string;
  /** UUID of the refund; empty for other movements. */
  readonly refundReference: string;
  readonly siteId: number;
  /** The merchant's own reference: merchantOrderId, or the invoice's external reference; empty if there is none. */
  readonly externalReference: string;
  readonly currencyISOCode: string;
  /** Cents: positive when the platform owes the amount to the merchant, negative when the merchant owes it. */
  readonly amount: number;
}

/** Sums of the ledger for a merchant and day. */
export interface SettlementSums {
  readonly sums: readonly MovementSum[];
  /** True when the day's movements are sealed and final. */
  readonly closed: boolean;
  /** Hex SHA-256; undefined while the day is not closed, and for days before the first seal. */
  readonly ledgerRoot: string | undefined;
}

const PAGE_SIZE = 1_000;

/** Reads the ledger for statements. */
@Injectable()
export class SettlementRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Sums up the merchant's movements of the day, and reads whether the day is closed, in one transaction. */
  async read(owner: SettlementOwner, { day, from, until }: SettlementDay): Promise<SettlementSums> {
    return inTransaction(this.dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      // The state of the day is read first, because the sums are complete only if they are read after the closing.
      const [closedDay] = await tx.query<{ closed: boolean; root: string | null }[]>(
        `SELECT EXISTS (SELECT FROM ledger_days WHERE day >= $1) AS closed,
                (SELECT encode(root, 'hex') FROM ledger_days WHERE day = $1) AS root`,
        [day],
      );
      const sums = await tx.query<MovementSum[]>(
        `SELECT currency, type, count(*)::int AS count, sum(amount)::bigint AS amount
           FROM (${MOVEMENTS}) m GROUP BY currency, type`,
        [...ownerParameters(owner), from, until],
      );
      return { sums, closed: closedDay?.closed === true, ledgerRoot: closedDay?.root ?? undefined };
    });
  }

  /** A transaction id. Every transaction with a smaller id has ended, so the rows of such transactions are final. */
  async snapshotHorizon(): Promise<string> {
    const [row] = await this.dataSource.query<{ horizon: string }[]>(
      `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon`,
    );
    if (!row) throw new Error('PostgreSQL has returned no snapshot.');
    return row.horizon;
  }

  /**
   * The movements of the day with a transaction below `horizon`, oldest first, in pages. Each page is a separate
   * statement, because a slow reader must not keep a transaction open.
   */
  async *readPages(
    owner: SettlementOwner,
    { from, until }: SettlementDay,
    horizon: string,
  ): AsyncGenerator<Movement[]> {
    let [after, position] = [from, 0];
    for (;;) {
      const rows = await this.dataSource.query<MovementRow[]>(
        `SELECT * FROM (${MOVEMENTS} AND t.txid < $6::xid8 AND (t.created_at, t.position) > ($4, $7::bigint)) m
          ORDER BY created_at, position LIMIT $8`,
        [...ownerParameters(owner), after, until, horizon, position, PAGE_SIZE],
      );
      if (rows.length > 0) yield rows.map(movementFromRow);
      const last = rows.at(-1);
      if (!last || rows.length < PAGE_SIZE) return;
      [after, position] = [last.created_at, last.position];
    }
  }
}

/** Parameters `$1` to `$3` of {@link MOVEMENTS}. */
function ownerParameters({ merchantId, mode, siteId }: SettlementOwner): unknown[] {
  return [merchantId, mode, siteId ?? null];
}

/** Every movement on the merchant's payable account between `$4` and `$5`. */
const MOVEMENTS = `
  SELECT t.created_at, t.position, t.currency, t.refund_id, p.payment_reference, y.site_id,
         coalesce(y.source ->> 'merchantOrderId', p.partner ->> 'invoiceExternalReference', '') AS external_reference,
         CASE t.kind WHEN 'capture' THEN 'payment' WHEN 'external' THEN 'externalPayment' ELSE t.kind END AS type,
         CASE WHEN t.credit_account = account.payable THEN t.amount ELSE -t.amount END AS amount
    FROM transfers t JOIN payments p ON p.payment_id = t.payment_id JOIN payables y ON y.payable_id = p.payable_id
         CROSS JOIN (SELECT $2::text || ':merchant:' || $1::bigint || ':payable' AS payable) account
   WHERE t.merchant_id = $1::bigint AND t.mode = $2 AND t.created_at >= $4 AND t.created_at < $5
     AND account.payable IN (t.debit_account, t.credit_account) AND ($3::bigint IS NULL OR y.site_id = $3::bigint)`;

interface MovementRow {
  readonly created_at: Date;
  readonly position: number;
  readonly type: MovementType;
  readonly payment_reference: string;
  readonly refund_id: string | null;
  readonly site_id: number;
  readonly external_reference: string;
  readonly currency: string;
  readonly amount: number;
}

function movementFromRow(row: MovementRow): Movement {
  return {
    createdUTCDate: row.created_at.toISOString(),
    type: row.type,
    svcId: row.payment_reference,
    refundReference: row.refund_id ?? '',
    siteId: row.site_id,
    externalReference: row.external_reference,
    currencyISOCode: row.currency,
    amount: row.amount,
  };
}

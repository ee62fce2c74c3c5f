import { Inject, Injectable } from '@nestjs/common';
import type { Mode, SettlementMovement, SettlementMovementType, SettlementSeal } from '@svc/contracts';
import { DataSource } from 'typeorm';
import type { MovementSum } from './settlement.js';
import type { SettlementRange } from './settlement-range.js';

/** Owner of movements: a merchant in one mode, or one of its sites. */
export interface SettlementOwner {
  readonly merchantId: number;
  readonly mode: Mode;
  /** Undefined: all sites of the merchant. */
  readonly siteId: number | undefined;
}

/** The sum of the movements of one type and currency on one day. */
export interface DayMovementSum extends MovementSum {
  /** The number of the day, beginning with 1. */
  readonly nth: number;
}

/** The place in a list of movements after which a page begins: the last movement of the page before. */
export interface MovementPosition {
  readonly createdAt: Date;
  readonly position: number;
}

export interface MovementPage {
  /** Oldest first. */
  readonly movements: readonly SettlementMovement[];
  /** Undefined on the last page. */
  readonly next: MovementPosition | undefined;
}

/** Sums of the ledger for a merchant and days. */
export interface SettlementSums {
  /** A type and currency has a sum for each slice of the days. */
  readonly sums: readonly MovementSum[];
  /** The seal that covers the end of the days. Undefined while movements can still be added. */
  readonly seal: SettlementSeal | undefined;
}

/** Movements that are read at once for a file. */
export const PAGE_SIZE = 1_000;

/** One statement sums up at most 31 days: it takes 2 to 4 s for a million movements, and must end within 15 s. */
const SLICE_MS = 31 * 86_400_000;

/** Reads the ledger for statements. */
@Injectable()
export class SettlementRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Sums up the merchant's movements of these days, and finds the seal that covers them. */
  async read(owner: SettlementOwner, { start, end }: SettlementRange): Promise<SettlementSums> {
    // The seal is read first: all movements before it are committed, so the sums contain them.
    const seal = await this.findSeal(end);
    const sums: MovementSum[] = [];
    for (let from = start; from < end;) {
      const until = new Date(Math.min(from.getTime() + SLICE_MS, end.getTime()));
      sums.push(...(await this.sumUp(owner, { start: from, end: until })));
      from = until;
    }
    return { sums, seal };
  }

  sumUp(owner: SettlementOwner, range: Pick<SettlementRange, 'start' | 'end'>): Promise<MovementSum[]> {
    return this.sumUpDays(owner, range, [range.start]);
  }

  /** @param starts the beginnings of the days, in order; the first one is the beginning of the range */
  sumUpDays(
    owner: SettlementOwner,
    { start, end }: Pick<SettlementRange, 'start' | 'end'>,
    starts: readonly Date[],
  ): Promise<DayMovementSum[]> {
    return this.dataSource.query<DayMovementSum[]>(SUMS, [...ownerParameters(owner), start, end, starts]);
  }

  /** The first seal that covers a time: all transfers that were created before this time are sealed. */
  async findSeal(time: Date): Promise<SettlementSeal | undefined> {
    const [seal] = await this.dataSource.query<SettlementSeal[]>(
      `SELECT seal_number AS number, encode(root, 'hex') AS hash
         FROM ledger_closings WHERE closed_until >= $1 ORDER BY closed_until LIMIT 1`,
      [time],
    );
    return seal;
  }

  /** A transaction id. Every transaction with a smaller id has ended, so the rows of such transactions are final. */
  async snapshotHorizon(): Promise<string> {
    const [row] = await this.dataSource.query<{ horizon: string }[]>(
      `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon`,
    );
    if (!row) throw new Error('PostgreSQL has returned no snapshot.');
    return row.horizon;
  }

  /** The time up to which the ledger is sealed: no movement before it can be added. Undefined before the first closing. */
  async findClosedUntil(): Promise<Date | undefined> {
    const [row] = await this.dataSource.query<{ closed_until: Date }[]>(
      `SELECT closed_until FROM ledger_closings ORDER BY closed_until DESC LIMIT 1`,
    );
    return row?.closed_until;
  }

  /** All movements of these days with a transaction below `horizon`, oldest first, in pages. */
  async *readPages(
    owner: SettlementOwner,
    range: SettlementRange,
    horizon: string,
  ): AsyncGenerator<readonly SettlementMovement[]> {
    let after: MovementPosition | undefined;
    do {
      const { movements, next } = await this.readPage(owner, range, { horizon, after, limit: PAGE_SIZE });
      if (movements.length > 0) yield movements;
      after = next;
    } while (after !== undefined);
  }

  /**
   * One page of the movements of these days with a transaction below `horizon`. Each page is a separate statement,
   * because a slow reader must not keep a transaction open.
   */
  async readPage(
    owner: SettlementOwner,
    { start, end }: SettlementRange,
    { horizon, after, limit }: MovementPageOptions,
  ): Promise<MovementPage> {
    const { createdAt, position } = after ?? { createdAt: start, position: 0 };
    const rows = await this.dataSource.query<MovementRow[]>(
      `SELECT * FROM (${MOVEMENTS} AND t.txid < $6::xid8 AND (t.created_at, t.position) > ($4, $7::bigint)) m
        ORDER BY created_at, position LIMIT $8`,
      [...ownerParameters(owner), createdAt, end, horizon, position, limit + 1],
    );
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      movements: rows.slice(0, limit).map(movementFromRow),
      next: last && { createdAt: last.created_at, position: last.position },
    };
  }
}

export interface MovementPageOptions {
  /** A transaction id: only movements of older transactions are read. */
  readonly horizon: string;
  /** Undefined: the first page. */
  readonly after: MovementPosition | undefined;
  readonly limit: number;
}

/** Parameters `$1` to `$3` of {@link MOVEMENTS}. */
export function ownerParameters({ merchantId, mode, siteId }: SettlementOwner): unknown[] {
  return [merchantId, mode, siteId ?? null];
}

/** A movement on the merchant's payable account between `$4` and `$5`. */
export const IS_MOVEMENT = `t.merchant_id = $1::bigint AND t.mode = $2 AND t.created_at >= $4 AND t.created_at < $5
     AND account.payable IN (t.debit_account, t.credit_account)`;
export const ACCOUNT = `(SELECT $2::text || ':merchant:' || $1::bigint || ':payable' AS payable) account`;
const TYPE = `CASE t.kind WHEN 'capture' THEN 'payment' WHEN 'external' THEN 'externalPayment' ELSE t.kind END`;
export const AMOUNT = `CASE WHEN t.credit_account = account.payable THEN t.amount ELSE -t.amount END`;

const MOVEMENTS = `
  SELECT t.created_at, t.position, t.currency, t.refund_id, report.dispute_id, p.payment_reference, y.site_id,
         coalesce(y.source ->> 'merchantOrderId', p.partner ->> 'invoiceExternalReference', '') AS external_reference,
         ${TYPE} AS type, ${AMOUNT} AS amount
    FROM transfers t JOIN payments p ON p.payment_id = t.payment_id JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN dispute_reports report ON report.report_id = t.dispute_report_id CROSS JOIN ${ACCOUNT}
   WHERE ${IS_MOVEMENT} AND ($3::bigint IS NULL OR y.site_id = $3::bigint)`;

/** The site of a movement is only looked up if the statement is that of a site. */
export const IS_OF_SITE = `($3::bigint IS NULL OR $3::bigint = (
         SELECT y.site_id FROM payments p JOIN payables y ON y.payable_id = p.payable_id WHERE p.payment_id = t.payment_id))`;

/**
 * `$6`: the beginnings of the days. Reads the range of the index once. Looks up payments and payables only for the
 * statement of a site, each by its key: a join could be planned as a scan of all payments.
 */
const SUMS = `
  SELECT width_bucket(t.created_at, $6::timestamptz[]) AS nth, t.currency, ${TYPE} AS type, count(*)::int AS count,
         sum(${AMOUNT})::bigint AS amount
    FROM transfers t CROSS JOIN ${ACCOUNT}
   WHERE ${IS_MOVEMENT} AND ${IS_OF_SITE}
   GROUP BY nth, t.currency, ${TYPE}`;

interface MovementRow {
  readonly created_at: Date;
  readonly position: number;
  readonly type: SettlementMovementType;
  readonly payment_reference: string;
  readonly refund_id: string | null;
  readonly dispute_id: string | null;
  readonly site_id: number;
  readonly external_reference: string;
  readonly currency: string;
  readonly amount: number;
}

function movementFromRow(row: MovementRow): SettlementMovement {
  return {
    createdUTCDate: row.created_at.toISOString(),
    type: row.type,
    svcId: row.payment_reference,
    refundReference: row.refund_id ?? '',
    disputeReference: row.dispute_id ?? '',
    siteId: row.site_id,
    externalReference: row.external_reference,
    currencyISOCode: row.currency,
    amount: row.amount,
  };
}

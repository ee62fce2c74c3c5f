import { Inject, Injectable } from '@nestjs/common';
import type { SettlementAmount } from '@svc/contracts';
import { DataSource } from 'typeorm';
import {
  ACCOUNT,
  AMOUNT,
  IS_MOVEMENT,
  IS_OF_SITE,
  ownerParameters,
  type SettlementOwner,
} from '../settlement.repository.js';

/** The balance of a merchant, or of one of its sites, at a time. */
export interface Balance {
  readonly at: Date;
  /** One for each currency. */
  readonly amounts: readonly SettlementAmount[];
}

/** Balances of the past, and the movements that are on the way. */
@Injectable()
export class BalanceRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The newest stored balance of at most this time. */
  async findStored(owner: SettlementOwner, time: Date): Promise<Balance | undefined> {
    const [balance] = await this.dataSource.query<Balance[]>(
      `SELECT at, amounts FROM merchant_balances
        WHERE merchant_id = $1 AND mode = $2 AND site_id = coalesce($3::bigint, 0) AND at <= $4 ORDER BY at DESC LIMIT 1`,
      [...ownerParameters(owner), time],
    );
    return balance;
  }

  /** Stores a balance at a time before which the ledger is sealed. It never changes, so a repeat has no effect. */
  async insertIfAbsent(owner: SettlementOwner, { at, amounts }: Balance): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO merchant_balances (merchant_id, mode, site_id, at, amounts)
       VALUES ($1, $2, coalesce($3::bigint, 0), $4, $5::jsonb) ON CONFLICT DO NOTHING`,
      [...ownerParameters(owner), at, JSON.stringify(amounts)],
    );
  }

  /** The time of the first movement of the merchant, at any site. */
  async findFirstTime({ merchantId, mode }: SettlementOwner): Promise<Date | undefined> {
    const [first] = await this.dataSource.query<{ created_at: Date }[]>(
      `SELECT created_at FROM transfers WHERE merchant_id = $1 AND mode = $2 ORDER BY created_at LIMIT 1`,
      [merchantId, mode],
    );
    return first?.created_at;
  }

  /** Sums up the movements at these acquirers that no settlement report contains yet. */
  sumUpUnsettled(
    owner: SettlementOwner,
    { start, end }: { readonly start: Date; readonly end: Date },
    acquirers: readonly string[],
  ): Promise<SettlementAmount[]> {
    const accounts = acquirers.map((acquirer) => `${owner.mode}:acquirer:${acquirer}:receivable`);
    return this.dataSource.query(UNSETTLED, [...ownerParameters(owner), start, end, accounts]);
  }
}

/**
 * `$6`: the accounts of the acquirers. A movement and the line of a report have the same kind and id. A movement that was
 * undone has either two lines or none, so that both add up to 0.
 */
const UNSETTLED = `
  SELECT t.currency AS "currencyISOCode", sum(${AMOUNT})::bigint AS amount
    FROM transfers t CROSS JOIN ${ACCOUNT}
   WHERE ${IS_MOVEMENT} AND ${IS_OF_SITE} AND (t.debit_account = ANY ($6::text[]) OR t.credit_account = ANY ($6))
     AND NOT EXISTS (
         SELECT FROM settlement_lines l
          WHERE l.movement_id = coalesce(t.dispute_report_id, t.refund_id, t.attempt_id, (
                SELECT a.attempt_id FROM attempts a WHERE a.payment_id = t.payment_id AND a.state = 'approved'))
            AND l.kind = CASE t.kind WHEN 'reversal' THEN 'captureReversal' ELSE t.kind END)
   GROUP BY t.currency HAVING sum(${AMOUNT}) <> 0 ORDER BY t.currency`;

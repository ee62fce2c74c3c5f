import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';

/** The acquirer of a merchant in one mode, and the merchant's account there. */
export interface ConfiguredAccount {
  /** Name of the acquirer. */
  readonly acquirer: string;
  /** 1 to 100 characters. */
  readonly accountReference: string;
}

/** A version of a merchant's account setting, as the administration API shows it. */
export interface MerchantAccountView extends ConfiguredAccount {
  readonly merchantId: number;
  readonly mode: Mode;
  /** Starts at 1 and increases by one with each change. */
  readonly version: number;
  /** ISO 8601 UTC. */
  readonly setUTCDate: string;
  /** Fingerprint of the administration key. */
  readonly setBy: string;
}

const MAX_LISTED_ACCOUNTS = 1_000;

/**
 * Accounts of merchants at acquirers. Each change inserts a row, so the table is also the history. The newest row
 * applies.
 */
@Injectable()
export class MerchantAccountRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async find(
    merchantId: number,
    mode: Mode,
    connection: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<ConfiguredAccount | undefined> {
    const [row] = await connection.query<ConfiguredAccount[]>(
      `SELECT acquirer, account AS "accountReference" FROM merchant_accounts
        WHERE merchant_id = $1 AND mode = $2 ORDER BY version DESC LIMIT 1`,
      [merchantId, mode],
    );
    return row;
  }

  /** All versions, newest first. If `merchantId` is undefined, the versions of all merchants. */
  async list(merchantId: number | undefined): Promise<MerchantAccountView[]> {
    const rows = await this.dataSource.query<(Omit<MerchantAccountView, 'setUTCDate'> & { setAt: Date })[]>(
      `SELECT merchant_id AS "merchantId", mode, acquirer, account AS "accountReference", version, set_at AS "setAt", set_by AS "setBy"
         FROM merchant_accounts WHERE $1::bigint IS NULL OR merchant_id = $1
        ORDER BY set_at DESC LIMIT $2`,
      [merchantId ?? null, MAX_LISTED_ACCOUNTS],
    );
    return rows.map(({ setAt, ...row }) => ({ ...row, setUTCDate: setAt.toISOString() }));
  }

  /**
   * Throws a unique violation when two administrators set the account at the same time, because the second
   * administrator has not seen the change of the first one.
   */
  async set(
    tx: EntityManager,
    merchantId: number,
    mode: Mode,
    account: ConfiguredAccount,
    setBy: string,
  ): Promise<MerchantAccountView> {
    const now = this.clock.now();
    const [row] = await tx.query<[{ version: number }]>(
      `INSERT INTO merchant_accounts (merchant_id, mode, version, acquirer, account, set_at, set_by)
       SELECT $1, $2, 1 + coalesce(max(version), 0), $3, $4, $5, $6 FROM merchant_accounts WHERE merchant_id = $1 AND mode = $2
       RETURNING version`,
      [merchantId, mode, account.acquirer, account.accountReference, now, setBy],
    );
    return { merchantId, mode, ...account, version: row.version, setUTCDate: now.toISOString(), setBy };
  }
}

import type { Mode } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import type { DataSource, EntityManager } from 'typeorm';

/** The version of a merchant's setting, as the administration API shows it. */
export interface MerchantSettingVersion {
  readonly merchantId: number;
  readonly mode: Mode;
  /** Starts at 1 and increases by one with each change. */
  readonly version: number;
  /** ISO 8601 UTC. */
  readonly setUTCDate: string;
  /** Fingerprint of the administration key. */
  readonly setBy: string;
}

/** A table with the columns `merchant_id`, `mode`, `version`, `set_at` and `set_by`, and with those of the setting. */
interface SettingTable<Setting> {
  readonly table: string;
  /** The column of each property. */
  readonly columns: Readonly<Record<keyof Setting & string, string>>;
}

const MAX_LISTED_VERSIONS = 1_000;

/**
 * A setting of merchants for each mode, which administrators change. Each change inserts a row, so the table is also the
 * history. The newest row applies.
 */
export abstract class MerchantSettingRepository<Setting extends object> {
  private readonly names: readonly (keyof Setting & string)[];
  private readonly selected: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly definition: SettingTable<Setting>,
  ) {
    this.names = Object.keys(definition.columns) as (keyof Setting & string)[];
    this.selected = this.names.map((name) => `${definition.columns[name]} AS "${name}"`).join(', ');
  }

  async find(
    merchantId: number,
    mode: Mode,
    connection: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<Setting | undefined> {
    const [row] = await connection.query<Setting[]>(
      `SELECT ${this.selected} FROM ${this.definition.table} WHERE merchant_id = $1 AND mode = $2 ORDER BY version DESC LIMIT 1`,
      [merchantId, mode],
    );
    return row;
  }

  /** All versions, newest first. If `merchantId` is undefined, the versions of all merchants. */
  async list(merchantId: number | undefined): Promise<(Setting & MerchantSettingVersion)[]> {
    const rows = await this.dataSource.query<
      (Omit<Setting & MerchantSettingVersion, 'setUTCDate'> & { setAt: Date })[]
    >(
      `SELECT merchant_id AS "merchantId", mode, ${this.selected}, version, set_at AS "setAt", set_by AS "setBy"
         FROM ${this.definition.table} WHERE $1::bigint IS NULL OR merchant_id = $1
        ORDER BY set_at DESC, version DESC LIMIT $2`,
      [merchantId ?? null, MAX_LISTED_VERSIONS],
    );
    return rows.map(
      ({ setAt, ...row }) =>
        ({ ...row, setUTCDate: setAt.toISOString() }) as unknown as Setting & MerchantSettingVersion,
    );
  }

  /**
   * Throws a unique violation when two administrators change the setting at the same time, because the second
   * administrator has not seen the change of the first one.
   */
  async set(
    tx: EntityManager,
    merchantId: number,
    mode: Mode,
    setting: Setting,
    setBy: string,
  ): Promise<Setting & MerchantSettingVersion> {
    const now = this.clock.now();
    const { table, columns } = this.definition;
    const [row] = await tx.query<[{ version: number }]>(
      `INSERT INTO ${table} (merchant_id, mode, version, set_at, set_by, ${this.names.map((name) => columns[name]).join(', ')})
       SELECT $1, $2, 1 + coalesce(max(version), 0), $3, $4, ${this.names.map((_, index) => `$${5 + index}`).join(', ')}
         FROM ${table} WHERE merchant_id = $1 AND mode = $2
       RETURNING version`,
      [merchantId, mode, now, setBy, ...this.names.map((name) => setting[name])],
    );
    return { merchantId, mode, ...setting, version: row.version, setUTCDate: now.toISOString(), setBy };
  }
}

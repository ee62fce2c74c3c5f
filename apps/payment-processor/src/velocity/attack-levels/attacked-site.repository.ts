import { Inject, Injectable } from '@nestjs/common';
import { type AttackLevel, type Mode, SiteAttackLevelChangedV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import type { Transaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { siteKey } from '../velocity-keys.js';
import type { SiteAttack } from './attack-level.js';

export interface Site {
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
}

/** A site with its declines. */
export interface WatchedSite {
  readonly declinedAt: readonly Date[];
  readonly approvals: readonly number[];
  /** The level that was last decided, even if it has ended. */
  readonly attack: SiteAttack | undefined;
  /** 0 if no level was ever decided. */
  readonly version: number;
  /** Undefined if no level was ever decided. */
  readonly merchantId: number | undefined;
}

/** Attack levels of sites. */
@Injectable()
export class AttackedSiteRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async find(
    { mode, siteId }: Pick<Site, 'mode' | 'siteId'>,
    connection: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<WatchedSite> {
    const [row] = await connection.query<[WatchedSiteRow]>(
      `SELECT v.declined_at AS "declinedAt", v.approvals, a.level, a.ends_at AS "endsAt", a.version, a.merchant_id AS "merchantId"
         FROM (SELECT $1::text AS counter_key, $2::text AS mode, $3::bigint AS site_id) site
         LEFT JOIN velocity_counters v ON v.counter_key = site.counter_key
         LEFT JOIN attacked_sites a ON a.mode = site.mode AND a.site_id = site.site_id`,
      [siteKey(mode, siteId), mode, siteId],
    );
    const { declinedAt, approvals, level, endsAt, version, merchantId } = row;
    return {
      declinedAt: declinedAt ?? [],
      approvals: approvals ?? [],
      attack: level === null || endsAt === null ? undefined : { level, endsAt },
      version: version ?? 0,
      merchantId: merchantId ?? undefined,
    };
  }

  /** Changes nothing and returns false if another process has changed the level since `knownVersion`. */
  async change(
    connection: Transaction | undefined,
    { mode, merchantId, siteId }: Site,
    { level, endsAt }: SiteAttack,
    knownVersion: number,
  ): Promise<boolean> {
    const version = knownVersion + 1;
    const event = this.events.newEnvelope({
      type: SiteAttackLevelChangedV1,
      aggregateId: `${mode}:${siteId}`,
      aggregateVersion: version,
      payload: { mode, merchantId, siteId, level, untilUTCDate: endsAt.toISOString(), version },
    });
    const parameters = { mode, siteId, merchantId, level, endsAt, version, now: this.clock.now() };
    const rows = await this.events.write(connection ?? this.dataSource, CHANGE, parameters, [event]);
    return rows.length > 0;
  }

  /** The number of attacked sites of each mode and level. */
  async countByLevel(): Promise<{ mode: Mode; level: AttackLevel; sites: number }[]> {
    return this.dataSource.query(
      `SELECT mode, level, count(*) AS sites FROM attacked_sites WHERE ends_at > $1 AND level > 0 GROUP BY mode, level`,
      [this.clock.now()],
    );
  }

  /** The sites under attack whose level changed last, with their declines. */
  async listAttacked(
    limit: number,
  ): Promise<(Pick<WatchedSite, 'declinedAt' | 'approvals'> & Pick<Site, 'mode' | 'siteId'>)[]> {
    return this.dataSource.query(
      `SELECT a.mode, a.site_id AS "siteId", coalesce(v.declined_at, '{}') AS "declinedAt", coalesce(v.approvals, '{}') AS approvals
         FROM (SELECT * FROM attacked_sites WHERE ends_at > $1 AND level > 0 ORDER BY ends_at DESC LIMIT $2) a
         LEFT JOIN velocity_counters v ON v.counter_key = 'site:' || a.mode || ':' || a.site_id`,
      [this.clock.now(), limit],
    );
  }
}

type WatchedSiteRow = {
  [Column in 'declinedAt' | 'approvals']: WatchedSite[Column] | null;
} & { level: AttackLevel | null; endsAt: Date | null; version: number | null; merchantId: number | null };

const CHANGE = statementWithEvents({
  writes: `changed AS (
         INSERT INTO attacked_sites AS s (mode, site_id, merchant_id, level, ends_at, version, modified_at)
         VALUES ($mode, $siteId, $merchantId, $level, $endsAt, $version, $now)
         ON CONFLICT (mode, site_id) DO UPDATE
            SET merchant_id = excluded.merchant_id, level = excluded.level, ends_at = excluded.ends_at, version = excluded.version,
                modified_at = excluded.modified_at
          WHERE s.version = excluded.version - 1
         RETURNING mode || ':' || site_id AS aggregate_id
       )`,
  changed: 'changed',
  aggregateId: 'aggregate_id',
});

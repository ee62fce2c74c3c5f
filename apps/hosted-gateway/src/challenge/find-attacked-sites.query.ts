import type { AttackLevel, Mode } from '@svc/contracts';
import type { DataSource } from 'typeorm';

export interface AttackedSite {
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  readonly level: AttackLevel;
  /** Null if the level does not end. */
  readonly until: Date | null;
}

/**
 * The sites that are under attack now, and the sites whose merchants always want a challenge, at level 1. Usually none.
 * A site that is both occurs twice.
 */
export function findAttackedSites(db: Pick<DataSource, 'query'>, now: Date): Promise<AttackedSite[]> {
  return db.query<AttackedSite[]>(
    `SELECT mode, merchant_id AS "merchantId", site_id AS "siteId", level, until
       FROM site_attack_levels WHERE level > 0 AND until > $1
     UNION ALL
     SELECT mode, merchant_id, site_id, 1, NULL FROM known_sites, (VALUES ('test'), ('live')) AS modes (mode)
      WHERE challenge_payers`,
    [now],
  );
}

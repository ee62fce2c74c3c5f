import { Inject, Injectable } from '@nestjs/common';
import type { AttackLevel, Mode } from '@svc/contracts';
import { Clock, TtlCache } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { type AttackedSite, findAttackedSites } from './find-attacked-sites.query.js';

export interface SiteKey {
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
}

/**
 * The levels of the sites under attack, with at most one query a second for all pages of the process. The event that
 * changes a level may reach another replica, so each replica reads the table.
 */
@Injectable()
export class AttackLevels {
  private readonly cache: TtlCache<ReadonlyMap<string, readonly AttackedSite[]>>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.cache = new TtlCache(clock, 1);
  }

  async get(site: SiteKey): Promise<AttackLevel> {
    const sites = await this.cache.find('sites', () => this.load());
    const now = this.clock.now();
    const current = (sites?.get(buildKey(site)) ?? []).filter(({ until }) => until === null || until > now);
    return current.reduce<AttackLevel>((highest, { level }) => (level > highest ? level : highest), 0);
  }

  private async load(): Promise<ReadonlyMap<string, readonly AttackedSite[]>> {
    return Map.groupBy(await findAttackedSites(this.dataSource, this.clock.now()), buildKey);
  }
}

function buildKey({ mode, merchantId, siteId }: SiteKey): string {
  return `${mode} ${merchantId} ${siteId}`;
}

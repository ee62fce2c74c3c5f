import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, type Observe, observeMetrics } from '@svc/kernel';
import { countBurst } from './attack-level.js';
import { AttackedSiteRepository } from './attacked-site.repository.js';

const MAX_SITES = 20;

const NAMES = ['svc.velocity.sites.attacked', 'svc.velocity.site.declined.share'] as const;

/** Reports the sites under attack, and the highest share of declined cards of the sites that were attacked last. */
@Injectable()
export class AttackMetrics implements OnModuleInit, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(
    @Inject(AttackedSiteRepository) private readonly sites: AttackedSiteRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.stop = observeMetrics(NAMES, (observe) => this.read(observe));
  }

  onModuleDestroy(): void {
    this.stop();
  }

  private async read(observe: Observe<(typeof NAMES)[number]>): Promise<void> {
    for (const { mode, level, sites } of await this.sites.countByLevel())
      observe('svc.velocity.sites.attacked', sites, { mode, level: `${level}` });
    const now = this.clock.now();
    const highestShares = new Map<Mode, number>();
    for (const { mode, siteId: _, ...declines } of await this.sites.listAttacked(MAX_SITES))
      highestShares.set(mode, Math.max(highestShares.get(mode) ?? 0, countBurst(declines, now).share));
    for (const [mode, share] of highestShares) observe('svc.velocity.site.declined.share', share, { mode });
  }
}

import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, type Observe, observeMetrics } from '@svc/kernel';
import { countBurst } from './attack-level.js';
import { AttackedSiteRepository } from './attacked-site.repository.js';

const MAX_SITES = 20;
const MODES: readonly Mode[] = ['test', 'live'];
/** The levels of an attack. */
const LEVELS = [1, 2, 3] as const;

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
    const counted = await this.sites.countByLevel();
    // A series that is no longer observed would keep its last value in the collector.
    for (const mode of MODES)
      for (const level of LEVELS) {
        const sites = counted.find((one) => one.mode === mode && one.level === level)?.sites ?? 0;
        observe('svc.velocity.sites.attacked', sites, { mode, level: `${level}` });
      }
    const now = this.clock.now();
    const highestShares = new Map<Mode, number>(MODES.map((mode) => [mode, 0]));
    for (const { mode, siteId: _, ...declines } of await this.sites.listAttacked(MAX_SITES))
      highestShares.set(mode, Math.max(highestShares.get(mode) ?? 0, countBurst(declines, now).share));
    for (const [mode, share] of highestShares) observe('svc.velocity.site.declined.share', share, { mode });
  }
}

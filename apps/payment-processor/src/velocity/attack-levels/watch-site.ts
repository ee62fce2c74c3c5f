import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { VelocityChecks } from '../velocity-checks.js';
import { decideAttackLevel } from './attack-level.js';
import { AttackedSiteRepository, type Site } from './attacked-site.repository.js';

/**
 * Decides after a decline whether stolen cards are being tested at the site (P11). If a process crashes before, the next
 * decline decides. Of two processes that decide at the same time, one changes the level.
 */
@Injectable()
export class WatchSite {
  constructor(
    @Inject(AttackedSiteRepository) private readonly sites: AttackedSiteRepository,
    @Inject(VelocityChecks) private readonly checks: VelocityChecks,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** Never throws, because the payment has already been settled. */
  async execute(site: Site): Promise<void> {
    try {
      await this.decide(site);
    } catch (error) {
      this.log.warn({ err: error, siteId: site.siteId }, 'the attack level of a site could not be decided');
    }
  }

  private async decide(site: Site): Promise<void> {
    const { limits } = await this.checks.findPolicy(site.merchantId, site.mode);
    const watched = await this.sites.find(site);
    const decided = decideAttackLevel(watched, watched.attack, limits, this.clock.now());
    if (!decided || !(await this.sites.change(undefined, site, decided, watched.version))) return;
    const { mode, merchantId, siteId } = site;
    const { level, endsAt } = decided;
    this.log.warn({ mode, merchantId, siteId, level, until: endsAt }, 'stolen cards are being tested at a site');
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { PageLook } from '../page-views/merchant-look/page-look.js';
import type { MerchantLook } from './look.js';
import { LookRepository } from './look.repository.js';
import { buildPageLook } from './page-look.js';

/** After this time, a page starts a query for changed looks, and does not wait for it. */
const REFRESH_AFTER_MS = 2_000;
/** After this time, for example in an idle process, a page waits for the query. */
const MAX_AGE_MS = 10_000;

/**
 * The looks of all merchants, in memory: a page needs no query for the look of its merchant. All pages of a process share
 * one query every two seconds, which reads only the looks that have changed. The change may have been made in another
 * replica.
 */
@Injectable()
export class CurrentLooks {
  private readonly looks = new Map<number, PageLook>();
  private readUntil = '0';
  private readAtMs = Number.NEGATIVE_INFINITY;
  private refreshing: Promise<void> | undefined;

  constructor(
    @Inject(LookRepository) private readonly repository: LookRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** The look of each merchant that has one. Call it in parallel with the query for the page. */
  async read(): Promise<ReadonlyMap<number, PageLook>> {
    const ageMs = this.clock.monotonicMs() - this.readAtMs;
    if (ageMs >= REFRESH_AFTER_MS) {
      this.refreshing ??= this.refresh().finally(() => (this.refreshing = undefined));
      if (ageMs >= MAX_AGE_MS) await this.refreshing;
    }
    return this.looks;
  }

  /** Never rejects: without its look, a page still takes the payment. */
  private async refresh(): Promise<void> {
    try {
      const { readUntil, looks } = await this.repository.findChanged(this.readUntil);
      for (const look of looks) this.store(look);
      this.readUntil = readUntil;
      this.readAtMs = this.clock.monotonicMs();
    } catch (error) {
      this.log.warn({ err: error }, 'the looks of merchants could not be read');
    }
  }

  private store(look: MerchantLook): void {
    const pageLook = buildPageLook(look);
    if (pageLook === undefined) this.looks.delete(look.merchantId);
    else this.looks.set(look.merchantId, pageLook);
  }
}

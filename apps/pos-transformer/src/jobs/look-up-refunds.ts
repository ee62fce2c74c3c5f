import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service/standalone';
import { Platform } from '../platform/platform.js';
import { Sender } from '../platform/sender.js';
import { Changes } from '../store/changes.js';
import { Store } from '../store/store.js';
import type { Refund } from '../refunds/refund.js';
import { RefundRepository } from '../refunds/refund.repository.js';
import { SettleRefund } from '../refunds/settle-refund.js';

/** The stream usually reports the end of a refund before that. */
const PENDING_MS = 10_000;
/** Between two look-ups of one refund: a bank may take days. */
const INTERVAL_MS = 60_000;
/** Of one round and site: a key may make five a second (M4), and tills need some of them. */
const LOOK_UPS_MAX = 2;

/**
 * Looks up the refunds on which the bank has not decided. The stream reports each decision once: one that came before the answer
 * which names the refund matches no refund here, and where streams are cut none arrives.
 */
@Injectable()
export class LookUpRefunds implements OnModuleDestroy {
  /** When each pending refund was looked up, by its id: the oldest look-up comes first. */
  private readonly lookedUpAt = new Map<number, number>();
  /** The store is closed soon: an answer that comes now is not kept. */
  private isStopped = false;

  constructor(
    @Inject(Platform) private readonly platform: Platform,
    @Inject(Store) private readonly store: Store,
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(Sender) private readonly sender: Sender,
    @Inject(Changes) private readonly changes: Changes,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  onModuleDestroy(): void {
    this.isStopped = true;
  }

  /** Stepped by a timer, or a test. */
  async runOnce(): Promise<void> {
    const before = this.clock.later(-PENDING_MS).toISOString();
    const pending = this.platform.siteIds.map((siteId) => this.refunds.listPending(siteId, before));
    const ids = new Set(pending.flat().map(({ refundId }) => refundId));
    for (const refundId of this.lookedUpAt.keys()) if (!ids.has(refundId)) this.lookedUpAt.delete(refundId);
    await Promise.all(pending.map((ofSite) => this.lookUp(ofSite)));
  }

  private async lookUp(pending: readonly Refund[]): Promise<void> {
    const now = this.clock.now().getTime();
    const at = ({ refundId }: Refund): number => this.lookedUpAt.get(refundId) ?? 0;
    const due = pending.filter((refund) => now - at(refund) >= INTERVAL_MS).sort((a, b) => at(a) - at(b));
    for (const { refundId, siteId, svcId } of due.slice(0, LOOK_UPS_MAX)) {
      if (this.sender.isAway(siteId)) return;
      this.lookedUpAt.set(refundId, now);
      try {
        const refunds = await this.platform.refunds(siteId).refunds(svcId);
        if (this.isStopped) return;
        this.store.transaction((tx) => refunds.forEach((refund) => this.settleRefund.execute(tx, siteId, refund)));
        this.changes.notify(siteId);
      } catch (error) {
        this.log.warn({ err: error, siteId }, 'refunds could not be looked up');
      }
    }
  }
}

import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service/standalone';
import { CallSender } from '../platform/call-sender.js';
import { Platform } from '../platform/platform.js';
import type { Refund } from '../refunds/refund.js';
import { RefundRepository } from '../refunds/refund.repository.js';
import { SettleRefund } from '../refunds/settle-refund.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { Store } from '../store/store.js';

/** The first poll of a refund waits this long, because the stream usually reports the outcome within this time. */
const MIN_PENDING_MS = 10_000;
/** Pause between two polls of the same refund. A bank may take days to decide. */
const POLL_INTERVAL_MS = 60_000;
/**
 * Maximum number of refunds of a site that are polled in one round. A key may send only five requests a second (M4),
 * and tills need some of these requests.
 */
const MAX_POLLS_PER_ROUND = 2;

/**
 * Polls the refunds on which the bank has not decided. The stream of payments is not enough for two reasons. First, the
 * stream reports each decision once. If the decision arrives before the response with the refund's reference, the
 * decision matches no stored refund. Second, an interrupted stream reports nothing.
 */
@Injectable()
export class PollRefunds implements OnModuleDestroy {
  /** Time of the last poll by the monotonic clock, by refund id. The refund whose last poll is the oldest is polled first. */
  private readonly polledAt = new Map<number, number>();
  /** Set before the store is closed: responses that arrive later are not written. */
  private isStopped = false;

  constructor(
    @Inject(Platform) private readonly platform: Platform,
    @Inject(Store) private readonly store: Store,
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  onModuleDestroy(): void {
    this.isStopped = true;
  }

  /** Called by a timer, or by a test. */
  async runStep(): Promise<void> {
    const before = this.clock.later(-MIN_PENDING_MS).toISOString();
    const pending = this.platform.siteIds.map((siteId) => this.refunds.listPending(siteId, before));
    const ids = new Set(pending.flat().map(({ refundId }) => refundId));
    for (const refundId of this.polledAt.keys()) if (!ids.has(refundId)) this.polledAt.delete(refundId);
    await Promise.all(pending.map((refundsOfSite) => this.poll(refundsOfSite)));
  }

  private async poll(pending: readonly Refund[]): Promise<void> {
    const now = this.clock.monotonicMs();
    const lastPolledAt = ({ refundId }: Refund): number => this.polledAt.get(refundId) ?? Number.NEGATIVE_INFINITY;
    const due = pending
      .filter((refund) => now - lastPolledAt(refund) >= POLL_INTERVAL_MS)
      .sort((a, b) => lastPolledAt(a) - lastPolledAt(b));
    for (const { refundId, siteId, svcId } of due.slice(0, MAX_POLLS_PER_ROUND)) {
      if (this.sender.isUnreachable(siteId)) return;
      this.polledAt.set(refundId, now);
      try {
        const refunds = await this.platform.refundClient(siteId).refunds(svcId);
        if (this.isStopped) return;
        this.store.transaction((tx) => refunds.forEach((refund) => this.settleRefund.execute(tx, siteId, refund)));
        this.changes.notify(siteId);
      } catch (error) {
        this.log.warn({ err: error, siteId }, 'refunds could not be polled');
      }
    }
  }
}

import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { type PaymentNotice, SvcApiError } from '@svc/sdk';
import { SERVICE_LOG, type ServiceLog } from '@svc/service/standalone';
import { TotalRepository } from '../baskets/total.repository.js';
import { backoffMs } from '../platform/backoff.js';
import { Platform } from '../platform/platform.js';
import { Sender } from '../platform/sender.js';
import { SettleRefund } from '../refunds/settle-refund.js';
import { Store } from '../store/store.js';
import { ApplyPayment } from '../payments/apply-payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';

/** The stream speaks every 15 s (M6): after so long without a word its invoices are looked up. */
export const STREAM_SILENT_MS = 20_000;
/** Look-ups of one round and site: a key may make five a second (M4), and tills need some of them. */
const LOOK_UPS_MAX = 8;
/** Payments are looked up for 24 hours (M2). */
const LOOKED_UP_MS = 24 * 3_600_000;
/** The outcome of a payment is known after 15 minutes at the latest (P1), also when its invoice was closed meanwhile. */
const UNDER_WAY_MS = 20 * 60_000;
const PAUSE_MS_MAX = 30_000;

/**
 * Brings every payment of the sites into the store. The stream is read from the last position that was kept; a payment is kept
 * in one transaction with its position, so a restart neither misses one nor depends on the platform sending it once. Where
 * streams are cut, the open invoices are looked up.
 */
@Injectable()
export class FollowPayments implements OnModuleDestroy {
  private readonly ended = new AbortController();
  /** Invoices whose payments the stream does not bring, because it was opened without a position, by site. */
  private readonly missed = new Map<number, string[]>();
  /** The first invoice of the next round of look-ups, by site. */
  private readonly nextLookUp = new Map<number, number>();

  constructor(
    @Inject(Platform) private readonly platform: Platform,
    @Inject(Store) private readonly store: Store,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ApplyPayment) private readonly applyPayment: ApplyPayment,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(Sender) private readonly sender: Sender,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** Reads the streams until the app is closed. */
  start(): void {
    for (const siteId of this.platform.siteIds) void this.follow(siteId);
  }

  onModuleDestroy(): void {
    this.ended.abort();
  }

  private async follow(siteId: number): Promise<void> {
    const { signal } = this.ended;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const onOpen = (id: string): void => {
          if (this.payments.findPosition(siteId) === undefined) {
            this.missed.set(siteId, this.listPayable(siteId));
            this.keepPosition(siteId, id);
          }
          this.sender.reachable(siteId);
        };
        const after = this.payments.findPosition(siteId);
        for await (const notice of this.platform.site(siteId).stream({ after, signal, onOpen })) {
          if (signal.aborted) return;
          this.take(siteId, notice);
          // Not when it opens: a message that cannot be taken would be asked for again and again without a pause.
          failures = 0;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.platform.streamFailed(siteId);
        this.log.warn({ err: error, siteId }, 'the stream of payments has ended; it is opened again');
        // Older than what the platform keeps: the look-ups bring what was missed.
        if (error instanceof SvcApiError && (error.httpStatus === 410 || error.httpStatus === 400))
          this.store.transaction((tx) => this.payments.forgetPosition(tx, siteId));
      }
      await this.pause(backoffMs(failures, PAUSE_MS_MAX));
    }
  }

  /** One message of the stream; a repeat changes nothing. */
  take(siteId: number, notice: PaymentNotice): void {
    this.store.transaction((tx) => {
      this.applyPayment.apply(tx, siteId, notice.payment);
      if (notice.type === 'refund') this.settleRefund.execute(tx, siteId, notice.refund);
      this.payments.keepPosition(tx, siteId, notice.id);
    });
    // A payment may close another invoice of its basket.
    this.sender.nudge(siteId);
  }

  /** Looks invoices up that may be paid, where the stream of their site is silent. Stepped by a timer, or a test. */
  async lookUp(): Promise<void> {
    await Promise.all(this.platform.siteIds.map((siteId) => this.lookUpSite(siteId)));
  }

  private async lookUpSite(siteId: number): Promise<void> {
    if (this.sender.isAway(siteId)) return;
    const missed = this.missed.get(siteId) ?? [];
    const found = await this.lookUpInvoices(siteId, missed.slice(0, LOOK_UPS_MAX));
    if (missed.length > found) this.missed.set(siteId, missed.slice(found));
    else this.missed.delete(siteId);
    if (missed.length > 0 || this.platform.streamSilentMs(siteId) < STREAM_SILENT_MS) return;
    const open = this.listPayable(siteId);
    const start = this.nextLookUp.get(siteId) ?? 0;
    const round = [...open.slice(start), ...open.slice(0, start)].slice(0, LOOK_UPS_MAX);
    this.nextLookUp.set(siteId, open.length === 0 ? 0 : (start + round.length) % open.length);
    await this.lookUpInvoices(siteId, round);
  }

  private listPayable(siteId: number): string[] {
    return this.totals.listPayable(siteId, {
      expiry: this.clock.later(-LOOKED_UP_MS).toISOString(),
      end: this.clock.later(-UNDER_WAY_MS).toISOString(),
    });
  }

  /** Returns how many were looked up: after a failure the others have to wait. */
  private async lookUpInvoices(siteId: number, invoiceReferences: readonly string[]): Promise<number> {
    for (const [index, invoiceReference] of invoiceReferences.entries()) {
      if (this.ended.signal.aborted) return index;
      try {
        const payments = await this.platform.site(siteId).paymentsOfInvoice(invoiceReference);
        if (this.ended.signal.aborted) return index;
        // The newest is first; they are kept in the order in which they were made.
        for (const payment of payments.reverse())
          this.store.transaction((tx) => this.applyPayment.apply(tx, siteId, payment));
        this.sender.nudge(siteId);
      } catch (error) {
        this.log.warn({ err: error, siteId }, 'payments could not be looked up');
        return index;
      }
    }
    return invoiceReferences.length;
  }

  private keepPosition(siteId: number, id: string): void {
    this.store.transaction((tx) => this.payments.keepPosition(tx, siteId, id));
  }

  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.ended.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
}

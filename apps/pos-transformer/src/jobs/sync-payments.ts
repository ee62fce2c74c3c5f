import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { type PaymentNotification, SvcApiError } from '@svc/sdk';
import { SERVICE_LOG, type ServiceLog } from '@svc/service/standalone';
import { TotalRepository } from '../baskets/total.repository.js';
import { ApplyPayment } from '../payments/apply-payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { backoffMs } from '../platform/backoff.js';
import { CallSender } from '../platform/call-sender.js';
import { Platform } from '../platform/platform.js';
import { SettleRefund } from '../refunds/settle-refund.js';
import { Store } from '../store/store.js';

/** The stream has a heartbeat every 15 s (M6). After this time without a heartbeat, the job polls the invoices. */
const STREAM_TIMEOUT_MS = 20_000;
/**
 * Maximum number of invoices of a site that are polled in one round. A key may send only five requests a second (M4),
 * and tills need some of these requests.
 */
const MAX_POLLS_PER_ROUND = 8;
/** An open invoice is polled until 24 hours after its expiry (M2). */
const POLL_WINDOW_MS = 24 * 3_600_000;
/** A replaced or closed invoice is polled for this time, because a payment of it ends within 15 minutes (P1). */
const MAX_PAYMENT_DURATION_MS = 20 * 60_000;
const MAX_BACKOFF_MS = 30_000;

/**
 * Copies every payment of the sites to the local store. Reads the platform's event stream from the last saved position.
 * Each payment is stored in one transaction with its position, so no payment is missed after a restart, and the store
 * ignores repeats. While a stream is interrupted, the job polls the open invoices.
 */
@Injectable()
export class SyncPayments implements OnModuleDestroy {
  private readonly shutdown = new AbortController();
  /** For each site: invoices that may have been paid before its stream was opened without a position. */
  private readonly invoicesBeforeStream = new Map<number, string[]>();
  /** For each site: index of the open invoice that the next round polls first. */
  private readonly nextPollIndex = new Map<number, number>();

  constructor(
    @Inject(Platform) private readonly platform: Platform,
    @Inject(Store) private readonly store: Store,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ApplyPayment) private readonly applyPayment: ApplyPayment,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** Reads the streams until the app is closed. */
  start(): void {
    for (const siteId of this.platform.siteIds) void this.readStream(siteId);
  }

  onModuleDestroy(): void {
    this.shutdown.abort();
  }

  private async readStream(siteId: number): Promise<void> {
    const { signal } = this.shutdown;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const onOpen = (id: string): void => {
          if (this.payments.findPosition(siteId) === undefined) {
            this.invoicesBeforeStream.set(siteId, this.listPayable(siteId));
            this.savePosition(siteId, id);
          }
          this.sender.markReachable(siteId);
        };
        const position = this.payments.findPosition(siteId);
        for await (const notification of this.platform.site(siteId).stream({ after: position, signal, onOpen })) {
          if (signal.aborted) return;
          this.applyNotification(siteId, notification);
          // The count is reset only after a message was processed. If it were reset when the stream opens, a message
          // that cannot be processed would be requested again and again without a pause.
          failures = 0;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.platform.markStreamFailed(siteId);
        this.log.warn({ err: error, siteId }, 'the stream of payments has ended; it will be reopened');
        // The platform no longer accepts the position, because it is older than the retention period. Polling finds the
        // payments that the stream has missed.
        if (error instanceof SvcApiError && (error.httpStatus === 410 || error.httpStatus === 400))
          this.deletePosition(siteId);
      }
      await this.pause(backoffMs(failures, MAX_BACKOFF_MS));
    }
  }

  /** Applies one message of the stream. A repeated message changes nothing. */
  applyNotification(siteId: number, notification: PaymentNotification): void {
    this.store.transaction((tx) => {
      this.applyPayment.apply(tx, siteId, notification.payment);
      if (notification.type === 'refund') this.settleRefund.execute(tx, siteId, notification.refund);
      this.payments.savePosition(tx, siteId, notification.id);
    });
    // A payment may have queued a call that closes another invoice of its basket.
    this.sender.sendDueCalls(siteId);
  }

  /**
   * Polls the invoices that may have been paid, for each site whose stream is silent. Called by a timer, or by a test.
   */
  async poll(): Promise<void> {
    await Promise.all(this.platform.siteIds.map((siteId) => this.pollSite(siteId)));
  }

  private async pollSite(siteId: number): Promise<void> {
    if (this.sender.isUnreachable(siteId)) return;
    const beforeStream = this.invoicesBeforeStream.get(siteId) ?? [];
    const polledCount = await this.pollInvoices(siteId, beforeStream.slice(0, MAX_POLLS_PER_ROUND));
    if (beforeStream.length > polledCount) this.invoicesBeforeStream.set(siteId, beforeStream.slice(polledCount));
    else this.invoicesBeforeStream.delete(siteId);
    if (beforeStream.length > 0 || this.platform.streamIdleMs(siteId) < STREAM_TIMEOUT_MS) return;
    const open = this.listPayable(siteId);
    const start = this.nextPollIndex.get(siteId) ?? 0;
    const round = [...open.slice(start), ...open.slice(0, start)].slice(0, MAX_POLLS_PER_ROUND);
    this.nextPollIndex.set(siteId, open.length === 0 ? 0 : (start + round.length) % open.length);
    await this.pollInvoices(siteId, round);
  }

  private listPayable(siteId: number): string[] {
    return this.totals.listPayableInvoices(siteId, {
      expiry: this.clock.later(-POLL_WINDOW_MS).toISOString(),
      end: this.clock.later(-MAX_PAYMENT_DURATION_MS).toISOString(),
    });
  }

  /** Stops at the first failure. Returns the number of polled invoices; the caller polls the rest in the next round. */
  private async pollInvoices(siteId: number, invoiceReferences: readonly string[]): Promise<number> {
    for (const [index, invoiceReference] of invoiceReferences.entries()) {
      if (this.shutdown.signal.aborted) return index;
      try {
        const payments = await this.platform.site(siteId).paymentsOfInvoice(invoiceReference);
        if (this.shutdown.signal.aborted) return index;
        // The response lists the newest payment first. Store the payments in the order in which they were created.
        for (const payment of payments.reverse())
          this.store.transaction((tx) => this.applyPayment.apply(tx, siteId, payment));
        this.sender.sendDueCalls(siteId);
      } catch (error) {
        this.log.warn({ err: error, siteId }, 'payments could not be polled');
        return index;
      }
    }
    return invoiceReferences.length;
  }

  private savePosition(siteId: number, id: string): void {
    this.store.transaction((tx) => this.payments.savePosition(tx, siteId, id));
  }

  /** While the disk is full, the position stays. The next attempt gets the same error and tries again. */
  private deletePosition(siteId: number): void {
    try {
      this.store.transaction((tx) => this.payments.deletePosition(tx, siteId));
    } catch (error) {
      this.log.error({ err: error, siteId }, 'the position in the stream could not be deleted');
    }
  }

  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.shutdown.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
}

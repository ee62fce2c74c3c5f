import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, formatRands } from '@svc/kernel';
import { type MerchantInvoice, SvcApiError } from '@svc/sdk';
import { BasketRepository } from '../baskets/basket.repository.js';
import { renewInvoiceRequest } from '../baskets/invoice-request.js';
import { type RequestedTotal, TotalRepository } from '../baskets/total.repository.js';
import { ApplyPayment } from '../payments/apply-payment.js';
import { AlertRepository } from '../platform/alert.repository.js';
import type { AttemptResult, CallHandler } from '../platform/call-handler.js';
import { classifyFailure, type Failure } from '../platform/failure.js';
import { type OutgoingCall, OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { type Reader, Store, type Tx } from '../store/store.js';

/** Number of retries within which the payment of a closed invoice must become visible. They take three seconds. */
const MAX_PAYMENT_LOOK_UPS = 3;

/**
 * Number of retries after errors of the platform, if a call only repeats a request to learn the invoice of an earlier
 * version of the basket.
 */
const MAX_RETRIES_IF_SUPERSEDED = 3;

/**
 * Creates and closes invoices. A total is an amount that a till requested for a basket. Retries are harmless: a request
 * with the key of the total returns the same invoice, and closing is idempotent (D6).
 */
@Injectable()
export class InvoiceCalls {
  readonly createHandler: CallHandler = {
    send: (call, isAwaited) => this.create(call, isAwaited),
    giveUp: (tx, call, message) => this.refuseTotalWithAlert(tx, call, message),
  };
  readonly closeHandler: CallHandler = {
    send: (call, isAwaited) => this.close(call, isAwaited),
    giveUp: (tx, call, message) =>
      this.appendAlert(tx, call, `The code of an earlier basket could not be closed: ${message}`),
  };

  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Platform) private readonly platform: Platform,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(ApplyPayment) private readonly payments: ApplyPayment,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  private async create(call: OutgoingCall, isAwaited: () => boolean): Promise<AttemptResult> {
    const total = this.totals.get(call.totalId!);
    if (call.attempts === 0 && !this.isNeeded(total)) return { kind: 'done' };
    try {
      const invoice = await this.createAtPlatform(call, total);
      const result: AttemptResult =
        invoice.state === 'closed'
          ? await this.settleClosedInvoice(call, total, invoice)
          : { kind: 'done', write: (tx) => this.storeInvoice(tx, call, total, invoice) };
      this.platform.takeSent(total.idempotencyKey!);
      return result;
    } catch (error) {
      const failure = classifyFailure(error);
      const isUnsent = !this.platform.takeSent(total.idempotencyKey!);
      switch (failure.kind) {
        case 'in-progress':
          // A waiting till gets a STOP, and its basket stays unchanged (T11). If no till waits, retry until the payment
          // ends.
          return isAwaited() ? refused(failure, (tx) => this.refuseTotal(tx, call)) : { kind: 'failed', failure };
        case 'already-paid':
          return refused(failure, (tx) => this.totals.setState(tx, total.totalId, 'without-invoice'));
        case 'refused':
          return refused(failure, (tx) =>
            isAwaited() ? this.refuseTotal(tx, call) : this.refuseTotalWithAlert(tx, call, failure.message),
          );
        // A 404 means that the API itself was not found, for example behind a proxy. The call is retried.
        case 'not-found':
        case 'later':
          // The other calls of the basket wait for this call.
          return call.failures >= MAX_RETRIES_IF_SUPERSEDED && !this.isNeeded(total)
            ? refused(failure, (tx) => this.refuseTotal(tx, call))
            : { kind: 'failed', failure };
        case 'unreachable':
          return { kind: 'failed', failure, isUnsent };
      }
    }
  }

  /** Whether the till still waits for the payment of this total. */
  private isNeeded({ basketId, totalId, isWithdrawn }: RequestedTotal, from: Reader = this.store): boolean {
    return (
      !isWithdrawn &&
      this.baskets.get(basketId, from).state === 'open' &&
      this.totals.findCurrent(basketId, from)?.totalId === totalId
    );
  }

  /**
   * Sends the request with the key of the total. If an earlier response was lost, the platform returns the invoice of
   * the earlier request in its present state, and so reports which invoice belongs to the basket. If that invoice has
   * expired during an outage, which is never true of a paid invoice, the total gets a new request with a new key if the
   * till still needs it.
   */
  private async createAtPlatform({ siteId }: OutgoingCall, total: RequestedTotal): Promise<MerchantInvoice> {
    const site = this.platform.site(siteId);
    try {
      return await site.createInvoice(total.request!, { idempotencyKey: total.idempotencyKey! });
    } catch (error) {
      const isExpired = error instanceof SvcApiError && error.code === 'payable.expired';
      if (!isExpired || !this.isNeeded(total)) throw error;
      const idempotencyKey = randomUUID();
      const request = renewInvoiceRequest(total.request!, { idempotencyKey, createdUTCDate: this.clock.nowISO() });
      this.store.transaction((tx) => this.totals.setRequest(tx, total.totalId, request, idempotencyKey));
      return await site
        .createInvoice(request, { idempotencyKey })
        .finally(() => this.platform.takeSent(idempotencyKey));
    }
  }

  private storeInvoice(tx: Tx, { siteId }: OutgoingCall, total: RequestedTotal, invoice: MerchantInvoice): void {
    // A newer total may have replaced this total meanwhile. The invoice of this total remains payable until the call of
    // the newer total ends.
    const isQueued = this.totals.get(total.totalId, tx).state === 'queued';
    const state = invoice.state === 'closed' ? 'closed' : isQueued ? 'open' : 'replaced';
    const expiresAt = new Date(invoice.expiresUTCDate).toISOString();
    this.totals.setInvoice(tx, total.totalId, { ...invoice, state, expiresAt });
    this.totals.replaceEarlier(tx, total.basketId, total.totalId);
    this.payments.linkEarlierPayments(tx, total.totalId, invoice.reference);
    this.changes.notify(siteId);
  }

  /**
   * Stores an invoice that was paid or closed while its response was lost. A payment is visible a second after its
   * outcome at the latest, so the call is retried a few times before the invoice counts as unpaid.
   */
  private async settleClosedInvoice(
    call: OutgoingCall,
    total: RequestedTotal,
    invoice: MerchantInvoice,
  ): Promise<AttemptResult> {
    const payments = await this.platform.site(call.siteId).paymentsOfInvoice(invoice.reference);
    const isPaid = payments.some(({ status }) => status === 'Success');
    if (!isPaid && call.failures < MAX_PAYMENT_LOOK_UPS)
      return { kind: 'failed', failure: { kind: 'later', message: 'The invoice is closed. Its payment may follow.' } };
    const write = (tx: Tx): void => {
      this.storeInvoice(tx, call, total, invoice);
      // The response lists the newest payment first. Store the payments in the order in which they were created.
      for (const payment of payments.toReversed()) this.payments.apply(tx, call.siteId, payment);
    };
    if (isPaid) return refused({ kind: 'already-paid', message: 'It has been paid.' }, write);
    return { kind: 'done', write };
  }

  private async close(call: OutgoingCall, isAwaited: () => boolean): Promise<AttemptResult> {
    const upTo = call.totalId;
    const write = (tx: Tx): void => {
      if (upTo !== null) this.totals.closeUpTo(tx, call.basketId!, upTo);
      this.changes.notify(call.siteId);
    };
    try {
      await this.closeAtPlatform(call);
      return { kind: 'done', write };
    } catch (error) {
      const failure = classifyFailure(error);
      if (failure.kind === 'not-found') return { kind: 'done', write };
      // A paid invoice needs no closing. The stream or polling reports the payment.
      if (failure.kind === 'already-paid') return { kind: 'refused', reason: failure };
      // The till gets a STOP for its new line or total, and its basket stays unchanged. A closed basket stays closed, so
      // its invoice is closed when the payment has ended.
      if (failure.kind === 'in-progress' && isAwaited() && this.baskets.get(call.basketId!).state === 'open')
        return refused(failure, (tx) => {
          if (this.isCloseForNewTotal(call)) this.refuseTotal(tx, call);
        });
      if (failure.kind === 'refused')
        return refused(failure, (tx) => this.closeHandler.giveUp(tx, call, failure.message));
      return { kind: 'failed', failure };
    }
  }

  /**
   * Retries once immediately, because the SDK does not retry this call. The first attempt may use a keep-alive
   * connection that the platform has just closed. Such a failure is no outage. Without the retry, the failure
   * would start a backoff, during which the site's tills would get a WARN.
   */
  private async closeAtPlatform({ siteId, subject }: OutgoingCall): Promise<void> {
    const site = this.platform.site(siteId);
    try {
      await site.closeInvoice(subject);
    } catch (error) {
      if (classifyFailure(error).kind !== 'unreachable') throw error;
      await site.closeInvoice(subject);
    }
  }

  /**
   * Whether the call closes the invoice because of a new total with nothing due. If the call is refused, that total is
   * refused too.
   */
  private isCloseForNewTotal(call: OutgoingCall): boolean {
    return call.totalId !== null && this.totals.get(call.totalId).state === 'without-invoice';
  }

  /**
   * Marks the total of the call as refused, so that the previous total becomes current again. If the previous total is
   * queued, its call is appended again if the refused total had cancelled it.
   */
  private refuseTotal(tx: Tx, call: OutgoingCall): void {
    // A withdrawn total stays the current total, so that the screens do not show an earlier total (T3).
    const { isWithdrawn } = this.totals.get(call.totalId!, tx);
    this.totals.setState(tx, call.totalId!, isWithdrawn ? 'closed' : 'refused');
    const { siteId, subject } = call;
    const basketId = call.basketId!;
    const current = this.totals.findCurrent(basketId, tx);
    if (current?.state === 'queued' && this.calls.findWaitingInvoiceCall(current.totalId, tx) === undefined)
      this.calls.append(tx, { siteId, kind: 'create-invoice', subject, basketId, totalId: current.totalId });
  }

  private refuseTotalWithAlert(tx: Tx, call: OutgoingCall, message: string): void {
    const total = this.totals.get(call.totalId!, tx);
    const isNeeded = this.isNeeded(total, tx);
    this.refuseTotal(tx, call);
    if (!isNeeded) return;
    this.appendAlert(
      tx,
      call,
      `No code was made for ${formatRands(total.amountCents)}. The platform refused it: ${message}`,
    );
  }

  private appendAlert(tx: Tx, call: OutgoingCall, message: string): void {
    const { siteId, till, reference } = this.baskets.get(call.basketId!, tx);
    this.alerts.append(tx, siteId, till, `Order ${reference}: ${message}`);
    this.changes.notify(siteId);
  }
}

function refused(reason: Failure, write: (tx: Tx) => void): AttemptResult {
  return { kind: 'refused', reason, write };
}

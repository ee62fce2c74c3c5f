import { Inject, Injectable } from '@nestjs/common';
import { type MerchantPayment, SvcApiError } from '@svc/sdk';
import { rands } from '../answers/answer.js';
import { BasketRepository } from '../baskets/basket.repository.js';
import { type Total, TotalRepository } from '../baskets/total.repository.js';
import { ApplyPayment } from '../payments/apply-payment.js';
import { Changes } from '../store/changes.js';
import { Store, type Tx } from '../store/store.js';
import { AlertRepository } from '../platform/alert.repository.js';
import type { CallHandler, TryResult } from '../platform/call-handler.js';
import { classifyFailure, type Failure } from '../platform/failure.js';
import { type OutgoingCall, OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';

/** Makes and closes the invoices of baskets. Repeats are harmless: the same body is the same invoice, closing is final (D6). */
@Injectable()
export class InvoiceCalls {
  readonly making: CallHandler = {
    send: (call, isAwaited) => this.make(call, isAwaited),
    giveUp: (tx, call, message) => this.refuse(tx, call, message),
  };
  readonly closing: CallHandler = {
    send: (call, isAwaited) => this.close(call, isAwaited),
    giveUp: (tx, call, message) =>
      this.alertOf(tx, call, `The code of an earlier basket could not be closed: ${message}`),
  };

  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Platform) private readonly platform: Platform,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(ApplyPayment) private readonly payments: ApplyPayment,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
    @Inject(Changes) private readonly changes: Changes,
  ) {}

  private async make(call: OutgoingCall, isAwaited: () => boolean): Promise<TryResult> {
    const total = this.totals.get(call.totalId!);
    try {
      if (await this.isPaidAlready(call, total))
        return { kind: 'refused', reason: { kind: 'already-paid', message: 'It has been paid.' } };
      const invoice = await this.platform.site(call.siteId).createInvoice(total.request!);
      const write = (tx: Tx): void => {
        // A newer total of the basket may have come meanwhile: this invoice can be paid until that one's own call replaces it.
        const isQueued = this.totals.get(total.totalId, tx).state === 'queued';
        const expiresAt = this.platform.localTime(call.siteId, invoice.expiresUTCDate);
        this.totals.keepInvoice(tx, total.totalId, { ...invoice, state: isQueued ? 'open' : 'replaced', expiresAt });
        this.totals.replaceEarlier(tx, total.basketId, total.totalId);
        this.payments.attachTo(tx, total.totalId, invoice.reference);
        this.changes.notify(call.siteId);
      };
      return { kind: 'done', write };
    } catch (error) {
      const failure = classifyFailure(error);
      switch (failure.kind) {
        case 'in-progress':
          // The till gets a STOP, and its basket stays as it was (T11). Without a till that waits, retry until the payment ends.
          return isAwaited() ? refused(failure, (tx) => this.drop(tx, call)) : { kind: 'failed', failure };
        case 'already-paid':
          return refused(failure, (tx) => this.totals.keepState(tx, total.totalId, 'without-invoice'));
        case 'refused':
          return refused(failure, (tx) => (isAwaited() ? this.drop(tx, call) : this.refuse(tx, call, failure.message)));
        // An address that is not there is a matter of the line, and no word about the basket.
        case 'not-found':
        case 'unreachable':
        case 'later':
          return { kind: 'failed', failure };
      }
    }
  }

  /**
   * Whether an invoice of the basket whose answer was lost has been paid: the platform would make another one, and the customer
   * would be asked for the money again. The payment ends the basket's calls, this one among them.
   */
  private async isPaidAlready(
    { siteId, subject, tries }: OutgoingCall,
    { totalId, basketId }: Total,
  ): Promise<boolean> {
    const isOther = (each: Total): boolean => each.totalId !== totalId;
    if (tries === 0 && !this.totals.listUnanswered(basketId).some(isOther)) return false;
    const payments = await this.paymentsOf(siteId, subject);
    if (this.calls.findWaiting(totalId) === undefined) return false;
    // The newest is first; they are kept in the order in which they were made.
    this.store.transaction((tx) => {
      for (const payment of payments.reverse()) this.payments.apply(tx, siteId, payment);
    });
    return this.calls.findWaiting(totalId) === undefined;
  }

  /** None where the platform answers with an error: payments are another service of it, whose outage must not stop the invoices. */
  private async paymentsOf(siteId: number, externalReference: string): Promise<MerchantPayment[]> {
    try {
      return await this.platform.site(siteId).paymentsOfExternalReference(externalReference);
    } catch (error) {
      if (error instanceof SvcApiError && error.httpStatus !== 0) return [];
      throw error;
    }
  }

  private async close(call: OutgoingCall, isAwaited: () => boolean): Promise<TryResult> {
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
      // Nothing is left to close, and the payment arrives by itself.
      if (failure.kind === 'already-paid') return { kind: 'refused', reason: failure };
      if (failure.kind === 'in-progress' && isAwaited() && this.isOfTotal(call))
        return refused(failure, (tx) => this.drop(tx, call));
      if (failure.kind === 'refused') return refused(failure, (tx) => this.closing.giveUp(tx, call, failure.message));
      return { kind: 'failed', failure };
    }
  }

  /**
   * The SDK tries this call once. A kept connection that the platform has just closed is no outage: without the second try, the
   * site's tills would be answered with WARN for the pause that follows.
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

  /** Whether the call closes the invoice because a new total owes nothing: that total is refused with it. */
  private isOfTotal(call: OutgoingCall): boolean {
    return call.totalId !== null && this.totals.get(call.totalId).state === 'without-invoice';
  }

  /** The total before it counts again, and is sent where it was not: the new one had cancelled its call. */
  private drop(tx: Tx, call: OutgoingCall): void {
    this.totals.keepState(tx, call.totalId!, 'refused');
    const { siteId, subject } = call;
    const basketId = call.basketId!;
    const current = this.totals.findCurrent(basketId, tx);
    if (current?.state === 'queued')
      this.calls.append(tx, { siteId, kind: 'make-invoice', subject, basketId, totalId: current.totalId });
  }

  private refuse(tx: Tx, call: OutgoingCall, message: string): void {
    const total: Total = this.totals.get(call.totalId!, tx);
    this.drop(tx, call);
    this.alertOf(tx, call, `No code was made for ${rands(total.amountCents)}. The platform refused it: ${message}`);
  }

  private alertOf(tx: Tx, call: OutgoingCall, message: string): void {
    const { siteId, till, reference } = this.baskets.get(call.basketId!, tx);
    this.alerts.append(tx, siteId, till, `Order ${reference}: ${message}`);
    this.changes.notify(siteId);
  }
}

function refused(reason: Failure, write: (tx: Tx) => void): TryResult {
  return { kind: 'refused', reason, write };
}

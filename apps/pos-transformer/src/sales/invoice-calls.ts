import { Inject, Injectable } from '@nestjs/common';
import { type MerchantPayment, SvcApiError } from '@svc/sdk';
import { formatRands } from '../answers/answer.js';
import { BasketRepository } from '../baskets/basket.repository.js';
import { type Total, TotalRepository } from '../baskets/total.repository.js';
import { ApplyPayment } from '../payments/apply-payment.js';
import { AlertRepository } from '../platform/alert.repository.js';
import type { AttemptResult, CallHandler } from '../platform/call-handler.js';
import { classifyFailure, type Failure } from '../platform/failure.js';
import { type OutgoingCall, OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { Store, type Tx } from '../store/store.js';

/**
 * Creates and closes invoices. A total is an amount that a till requested for a basket. Retries are harmless: an equal
 * request returns the same invoice, and closing is idempotent (D6).
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
  ) {}

  private async create(call: OutgoingCall, isAwaited: () => boolean): Promise<AttemptResult> {
    const total = this.totals.get(call.totalId!);
    try {
      if (await this.isPaidAlready(call, total))
        return { kind: 'refused', reason: { kind: 'already-paid', message: 'It has been paid.' } };
      const invoice = await this.platform.site(call.siteId).createInvoice(total.request!);
      const write = (tx: Tx): void => {
        // A newer total may have replaced this total meanwhile. The invoice of this total remains payable until the
        // call of the newer total ends.
        const isQueued = this.totals.get(total.totalId, tx).state === 'queued';
        const expiresAt = new Date(invoice.expiresUTCDate).toISOString();
        this.totals.setInvoice(tx, total.totalId, { ...invoice, state: isQueued ? 'open' : 'replaced', expiresAt });
        this.totals.replaceEarlier(tx, total.basketId, total.totalId);
        this.payments.linkEarlierPayments(tx, total.totalId, invoice.reference);
        this.changes.notify(call.siteId);
      };
      return { kind: 'done', write };
    } catch (error) {
      const failure = classifyFailure(error);
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
        case 'unreachable':
        case 'later':
          return { kind: 'failed', failure };
      }
    }
  }

  /**
   * Whether the customer has paid an earlier invoice of the basket whose response was lost. Without this check the
   * platform would create another invoice, and the customer could pay twice. Applying the payment cancels the basket's
   * calls, including this one.
   */
  private async isPaidAlready(
    { siteId, subject, attempts }: OutgoingCall,
    { totalId, basketId }: Total,
  ): Promise<boolean> {
    const isOtherTotal = (each: Total): boolean => each.totalId !== totalId;
    if (attempts === 0 && !this.totals.listWithUnknownInvoice(basketId).some(isOtherTotal)) return false;
    const payments = await this.listPayments(siteId, subject);
    if (this.calls.findWaitingInvoiceCall(totalId) === undefined) return false;
    // The response lists the newest payment first. Store the payments in the order in which they were created.
    this.store.transaction((tx) => {
      for (const payment of payments.reverse()) this.payments.apply(tx, siteId, payment);
    });
    return this.calls.findWaitingInvoiceCall(totalId) === undefined;
  }

  /**
   * Returns an empty list if the platform responds with an error, because one service of the platform returns payments,
   * and another service creates invoices. An outage of the first service must not block invoices.
   */
  private async listPayments(siteId: number, externalReference: string): Promise<MerchantPayment[]> {
    try {
      return await this.platform.site(siteId).paymentsOfExternalReference(externalReference);
    } catch (error) {
      if (error instanceof SvcApiError && error.httpStatus !== 0) return [];
      throw error;
    }
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
      if (failure.kind === 'in-progress' && isAwaited() && this.isCloseForNewTotal(call))
        return refused(failure, (tx) => this.refuseTotal(tx, call));
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
   * queued, its call is appended again, because the refused total had cancelled it.
   */
  private refuseTotal(tx: Tx, call: OutgoingCall): void {
    this.totals.setState(tx, call.totalId!, 'refused');
    const { siteId, subject } = call;
    const basketId = call.basketId!;
    const current = this.totals.findCurrent(basketId, tx);
    if (current?.state === 'queued')
      this.calls.append(tx, { siteId, kind: 'make-invoice', subject, basketId, totalId: current.totalId });
  }

  private refuseTotalWithAlert(tx: Tx, call: OutgoingCall, message: string): void {
    const total: Total = this.totals.get(call.totalId!, tx);
    this.refuseTotal(tx, call);
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

import { Inject, Injectable } from '@nestjs/common';
import { formatRands } from '@svc/kernel';
import { type Answer, mergeAnswers, ok, stop, warn } from '../answers/answer.js';
import { type Basket, BasketRepository, type BasketState, type Till } from '../baskets/basket.repository.js';
import { TotalRepository } from '../baskets/total.repository.js';
import { coveredAmount } from '../payments/payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import type { CallOutcome } from '../platform/call-queue.js';
import { CallSender } from '../platform/call-sender.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { Store } from '../store/store.js';
import { paidAmountWarning } from './request-payment.js';

const STATE_BY_ORDER_STATUS: Readonly<Record<string, 'complete' | 'void' | 'saved'>> = {
  Complete: 'complete',
  Void: 'void',
  Saved: 'saved',
};

/** Closes a basket and its invoice (T12). The new state of the basket is committed before the platform is called. */
@Injectable()
export class CloseBasket {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
  ) {}

  /** Closes the till's open basket. */
  async reset(till: Till): Promise<Answer> {
    const basket = this.baskets.findOpen(till);
    return basket ? this.close(basket, 'reset') : ok();
  }

  async closeOrder(till: Till, reference: string, orderStatus: string): Promise<Answer> {
    const state = Object.hasOwn(STATE_BY_ORDER_STATUS, orderStatus) ? STATE_BY_ORDER_STATUS[orderStatus] : undefined;
    if (!state) return stop('OrderStatus must be Complete, Void or Saved.');
    const basket = this.baskets.findNewestOrder(till, reference);
    if (!basket) return warn('This till has no basket of this order. Check whether another till still shows its code.');
    const isClosed = basket.state !== 'open' && basket.state !== 'saved';
    // A closed order can only be voided. Other changes of its state are ignored.
    if (isClosed && state !== 'void') return ok('This order is already closed.');
    return this.close(basket, state);
  }

  private async close(basket: Basket, state: BasketState): Promise<Answer> {
    const { siteId, basketId, externalReference } = basket;
    const current = this.totals.findCurrent(basketId);
    const callId = this.store.transaction((tx) => {
      this.baskets.setState(tx, basketId, state);
      this.calls.supersedeInvoices(tx, basketId);
      if (!current || externalReference === null) return undefined;
      // No attempt has reached the platform, so there is no invoice to close (T8).
      if (!this.totals.mayHavePayableInvoice(basketId, tx)) {
        this.totals.closeUpTo(tx, basketId, current.totalId);
        return undefined;
      }
      const { totalId } = current;
      return this.calls.append(tx, { siteId, kind: 'close-invoice', subject: externalReference, basketId, totalId });
    });
    this.changes.notify(siteId);
    const outcome: CallOutcome =
      callId === undefined ? { kind: 'done' } : await this.sender.waitForOutcome(siteId, 'invoices', callId);
    return mergeAnswers(answerForOutcome(outcome, state), this.paidWarning(basket, state));
  }

  /**
   * A warning for the cashier if the voided basket was paid and must be refunded, or if the paid amount differs from
   * the amount due.
   */
  private paidWarning({ basketId }: Basket, state: BasketState): Answer | undefined {
    const decisive = this.payments.findDecisive(basketId);
    if (decisive?.payment.status !== 'Success') return undefined;
    const covered = coveredAmount(decisive.payment);
    if (state === 'void') return warn(`This order was paid: ${formatRands(covered)}. Refund it.`);
    const current = this.totals.findCurrent(basketId);
    return current && current.amountCents !== covered
      ? paidAmountWarning(decisive.payment, current.amountCents)
      : undefined;
  }
}

function answerForOutcome(outcome: CallOutcome, state: BasketState): Answer {
  switch (outcome.kind) {
    case 'done':
    case 'not-found':
    case 'cancelled':
      return ok();
    case 'in-progress':
      return warn('A customer is paying this basket now. Check whether the payment succeeds before you continue.');
    case 'already-paid':
      return state === 'void'
        ? warn('This order has just been paid. Refund it.')
        : ok('This basket has just been paid.');
    case 'refused':
      return warn(`The code of this basket could not be closed: ${outcome.message}`);
    case 'queued':
    case 'unreachable':
    case 'later':
      return warn('The payment service cannot be reached. The code of this basket is closed when the service is back.');
  }
}

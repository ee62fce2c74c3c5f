import { Inject, Injectable } from '@nestjs/common';
import { type Answer, combine, ok, rands, stop, warn } from '../answers/answer.js';
import { coveredAmount } from '../payments/payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import type { Outcome } from '../platform/lane.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Sender } from '../platform/sender.js';
import { Changes } from '../store/changes.js';
import { Store } from '../store/store.js';
import { type Basket, BasketRepository, type BasketState, type Till } from '../baskets/basket.repository.js';
import { paidAnother } from './request-payment.js';
import { TotalRepository } from '../baskets/total.repository.js';

const STATE_OF_STATUS: Readonly<Record<string, 'complete' | 'void' | 'saved'>> = {
  Complete: 'complete',
  Void: 'void',
  Saved: 'saved',
};

/** Closes a basket and its invoice (T12). The till's decision is committed first; the call to the platform follows. */
@Injectable()
export class CloseBasket {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(Sender) private readonly sender: Sender,
    @Inject(Changes) private readonly changes: Changes,
  ) {}

  /** The till has settled its basket. */
  async reset(till: Till): Promise<Answer> {
    const basket = this.baskets.findOpen(till);
    return basket ? this.close(basket, 'reset') : ok();
  }

  async closeOrder(till: Till, reference: string, orderStatus: string): Promise<Answer> {
    const state = Object.hasOwn(STATE_OF_STATUS, orderStatus) ? STATE_OF_STATUS[orderStatus] : undefined;
    if (!state) return stop('OrderStatus must be Complete, Void or Saved.');
    const basket = this.baskets.findNewestOrder(till, reference);
    if (!basket)
      return warn('This till has no basket of this order. Look whether its code is still shown at another till.');
    const isClosed = basket.state !== 'open' && basket.state !== 'saved';
    // A closed order may still be voided; nothing else changes it.
    if (isClosed && state !== 'void') return ok('This order is closed already.');
    return this.close(basket, state);
  }

  private async close(basket: Basket, state: BasketState): Promise<Answer> {
    const { siteId, basketId, externalReference } = basket;
    const current = this.totals.findCurrent(basketId);
    const callId = this.store.transaction((tx) => {
      this.baskets.keepState(tx, basketId, state);
      this.calls.cancelOfBasket(tx, basketId, 'make-invoice');
      if (!current || externalReference === null) return undefined;
      // An invoice that was never sent is not made any more (T8).
      if (!this.totals.mayBePayable(basketId, tx)) {
        this.totals.closeUpTo(tx, basketId, current.totalId);
        return undefined;
      }
      const { totalId } = current;
      return this.calls.append(tx, { siteId, kind: 'close-invoice', subject: externalReference, basketId, totalId });
    });
    this.changes.notify(siteId);
    const outcome: Outcome =
      callId === undefined ? { kind: 'done' } : await this.sender.outcomeOf(siteId, 'invoices', callId);
    return combine(answerTo(outcome, state), this.warningOf(basket, state));
  }

  /** A warning for the cashier, where the basket's payment needs one. */
  private warningOf({ basketId }: Basket, state: BasketState): Answer | undefined {
    const paid = this.payments.findDecisive(basketId);
    if (paid?.payment.status !== 'Success') return undefined;
    const covered = coveredAmount(paid.payment);
    if (state === 'void') return warn(`This order was paid: ${rands(covered)}. Refund it.`);
    const current = this.totals.findCurrent(basketId);
    return current && current.amountCents !== covered ? paidAnother(paid.payment, current.amountCents) : undefined;
  }
}

function answerTo(outcome: Outcome, state: BasketState): Answer {
  switch (outcome.kind) {
    case 'done':
    case 'not-found':
      return ok();
    case 'in-progress':
      return warn('A customer is paying this basket now. Look whether the payment succeeds before you go on.');
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

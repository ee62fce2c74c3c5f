import { Inject, Injectable } from '@nestjs/common';
import { type Answer, mergeAnswers, ok, stop, warn } from '../answers/answer.js';
import { type BasketLine, isLineTotalCorrect, MAX_LINES, putLine } from '../baskets/basket.js';
import { BasketRepository, type Till } from '../baskets/basket.repository.js';
import { type RequestedTotal, TotalRepository } from '../baskets/total.repository.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import type { CallOutcome } from '../platform/call-queue.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { Store } from '../store/store.js';
import { WithdrawTotal } from './withdraw-total.js';

const PAYING = stop('A customer is paying this basket now. Wait for the payment, or try again in a moment.');
const PAID = warn('This basket has been paid. Reset it before the next customer.');
const WITHDRAWN = warn('This basket has changed, so its code is no longer valid. Send total again.');
const WITHDRAWN_OFFLINE = warn(
  'This basket has changed. Its old code is closed when the payment service can be reached. Send total again.',
);

/**
 * Adds, replaces or removes a line of the till's basket. A line after a total withdraws the total: its code is closed
 * before the line is stored, so that no customer pays less than the till shows (T3).
 */
@Injectable()
export class PutLine {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(WithdrawTotal) private readonly withdrawTotal: WithdrawTotal,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
  ) {}

  async execute(till: Till, line: BasketLine): Promise<Answer> {
    const existing = this.baskets.findOpen(till);
    const current = existing && this.totals.findCurrent(existing.basketId);
    const { change } = putLine(existing ? this.baskets.listLines(existing.basketId) : [], line);
    if (change === 'full') return stop(`A basket has at most ${MAX_LINES} lines.`);
    if (change === 'nothing-to-remove')
      // The till may repeat a request that has removed the line, because it got no response.
      return mergeAnswers(ok('The basket has no such line.'), current?.isWithdrawn ? WITHDRAWN : undefined);

    const outcome: CallOutcome =
      existing && current && !this.isPaid(existing.basketId)
        ? await this.withdrawTotal.closeInvoices(existing, current)
        : { kind: 'done' };
    const refusal = refusalOf(outcome);
    if (refusal) return refusal;
    // Another request of the till has changed the basket meanwhile, so its new total must be withdrawn too.
    if (!this.isUnchanged(till, existing?.basketId, current)) return this.execute(till, line);

    this.store.transaction((tx) => {
      const { basketId } = existing ?? this.baskets.create(tx, till, 'lines');
      if (current) this.withdrawTotal.execute(tx, current);
      if (change === 'removed') this.baskets.removeLine(tx, basketId, line.id);
      else this.baskets.putLine(tx, basketId, line);
    });
    this.changes.notify(till.siteId);
    return mergeAnswers(
      ok(),
      isLineTotalCorrect(line) || change === 'removed'
        ? undefined
        : warn('The total of this line is not its price times its quantity. Check the line.'),
      existing && current ? this.warnAboutTotal(existing.basketId, outcome) : undefined,
    );
  }

  private isUnchanged(till: Till, basketId: number | undefined, total: RequestedTotal | undefined): boolean {
    const basket = this.baskets.findOpen(till);
    if (basket?.basketId !== basketId) return false;
    return basket === undefined || this.totals.findCurrent(basket.basketId)?.totalId === total?.totalId;
  }

  private isPaid(basketId: number): boolean {
    return this.payments.findDecisive(basketId)?.payment.status === 'Success';
  }

  private warnAboutTotal(basketId: number, outcome: CallOutcome): Answer {
    if (outcome.kind === 'already-paid' || this.isPaid(basketId)) return PAID;
    return outcome.kind === 'done' ? WITHDRAWN : WITHDRAWN_OFFLINE;
  }
}

/** The answer if the invoice cannot be closed, so that the basket must not change. */
function refusalOf(outcome: CallOutcome): Answer | undefined {
  if (outcome.kind === 'in-progress') return PAYING;
  if (outcome.kind === 'refused') return stop(`The code of this basket could not be closed: ${outcome.message}`);
  return undefined;
}

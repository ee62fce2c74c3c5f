import { Inject, Injectable } from '@nestjs/common';
import { type Answer, mergeAnswers, ok, stop, warn } from '../answers/answer.js';
import { type BasketLine, isLineTotalCorrect, MAX_LINES, putLine } from '../baskets/basket.js';
import { BasketRepository, type Till } from '../baskets/basket.repository.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { Store } from '../store/store.js';

/** Adds, replaces or removes a line of the till's basket. The invoice stays unchanged until the next total (T3). */
@Injectable()
export class PutLine {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
  ) {}

  execute(till: Till, line: BasketLine): Answer {
    const existing = this.baskets.findOpen(till);
    const { change } = putLine(existing ? this.baskets.listLines(existing.basketId) : [], line);
    if (change === 'full') return stop(`A basket has at most ${MAX_LINES} lines.`);
    if (change === 'nothing-to-remove') return ok('The basket has no such line.');
    this.store.transaction((tx) => {
      const { basketId } = existing ?? this.baskets.create(tx, till, 'lines');
      if (change === 'removed') this.baskets.removeLine(tx, basketId, line.id);
      else this.baskets.putLine(tx, basketId, line);
    });
    this.changes.notify(till.siteId);
    const isPaid = existing && this.payments.findDecisive(existing.basketId)?.payment.status === 'Success';
    return mergeAnswers(
      ok(),
      isLineTotalCorrect(line) || change === 'removed'
        ? undefined
        : warn('The total of this line is not its price times its quantity. Check the line.'),
      isPaid ? warn('This basket has been paid. Reset it before the next customer.') : undefined,
    );
  }
}

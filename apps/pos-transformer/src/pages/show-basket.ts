import { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { BasketRepository, type Till } from '../baskets/basket.repository.js';
import { TotalRepository } from '../baskets/total.repository.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { Changes } from '../store/changes.js';
import { basketView, type BasketView, NO_BASKET } from './basket-view.js';

/** A store has a display for each till; more are a program that opens them without end. */
const DISPLAYS_MAX = 100;
/** Shows a display that the connection lives. */
const COMMENT_MS = 10_000;

/** The basket of a till as its customer display shows it, now and whenever it changes. */
@Injectable()
export class ShowBasket implements OnModuleDestroy {
  private readonly displays = new Set<Readable>();

  constructor(
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(Changes) private readonly changes: Changes,
  ) {}

  view(till: Till): BasketView {
    const basket = this.baskets.findShown(till);
    if (!basket) return NO_BASKET;
    const { basketId, reference, token } = basket;
    const lines = this.baskets.lines(basketId);
    const current = this.totals.findCurrent(basketId);
    const payment = this.payments.findDecisive(basketId);
    return basketView({ reference, token, lines, current, payment });
  }

  /** Server-sent events: the basket at once, then each time that it has changed. The reader ends the stream. */
  stream(till: Till): Readable {
    if (this.displays.size >= DISPLAYS_MAX)
      throw new DomainError('service.not-ready', { message: 'Too many displays are open.', retryAfterSeconds: 10 });
    let last = '';
    const show = (): void => {
      const view = JSON.stringify(this.view(till));
      if (view === last) return;
      last = view;
      stream.push(`data: ${view}\n\n`);
    };
    const timer = setInterval(() => stream.push(':\n\n'), COMMENT_MS);
    const unsubscribe = this.changes.subscribe((siteId) => siteId === till.siteId && show());
    const stream = new Readable({
      read: () => undefined,
      destroy: (error, done) => {
        this.displays.delete(stream);
        clearInterval(timer);
        unsubscribe();
        done(error);
      },
    });
    this.displays.add(stream);
    show();
    return stream;
  }

  /** A display that is open would hold the shutdown up; it connects again. */
  onModuleDestroy(): void {
    for (const stream of this.displays) stream.push(null);
  }
}

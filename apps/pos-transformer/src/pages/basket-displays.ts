import { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { BasketRepository, type Till } from '../baskets/basket.repository.js';
import { TotalRepository } from '../baskets/total.repository.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { Platform } from '../platform/platform.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { type BasketView, basketView, type DisplayView, NO_BASKET } from './basket-view.js';

/** A store has one display for each till. The limit protects against a client that opens more and more streams. */
const MAX_DISPLAYS = 100;
/** Interval of comments in the stream. A display that receives no comments reconnects. */
const HEARTBEAT_MS = 10_000;

/** Sends the basket of a till to its customer displays: when a display connects, and after each change. */
@Injectable()
export class BasketDisplays implements OnModuleDestroy {
  private readonly displays = new Set<Readable>();

  constructor(
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
    @Inject(Platform) private readonly platform: Platform,
  ) {}

  view(till: Till): DisplayView {
    const { name = null } = this.platform.siteSettings(till.siteId);
    return { storeName: name, ...this.viewBasket(till) };
  }

  /**
   * Server-sent events with the basket: one immediately, and one after each change. The reader must destroy the stream.
   */
  stream(till: Till): Readable {
    if (this.displays.size >= MAX_DISPLAYS)
      throw new DomainError('service.not-ready', { message: 'Too many displays are open.', retryAfterSeconds: 10 });
    let last = '';
    const show = (): void => {
      const view = JSON.stringify(this.view(till));
      if (view === last) return;
      last = view;
      stream.push(`data: ${view}\n\n`);
    };
    const timer = setInterval(() => stream.push(':\n\n'), HEARTBEAT_MS);
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

  /** Ends open streams, which would delay the shutdown. The displays reconnect. */
  onModuleDestroy(): void {
    for (const stream of this.displays) stream.push(null);
  }

  private viewBasket(till: Till): BasketView {
    const basket = this.baskets.findDisplayed(till);
    if (!basket) return NO_BASKET;
    const { basketId, reference, token } = basket;
    const lines = this.baskets.listLines(basketId);
    const current = this.totals.findCurrent(basketId);
    const decisive = this.payments.findDecisive(basketId);
    const paid =
      decisive?.payment.status === 'Success' && decisive.totalId !== null
        ? { total: this.totals.get(decisive.totalId), payment: decisive.payment }
        : undefined;
    return basketView({ reference, token, lines, current, paid });
  }
}

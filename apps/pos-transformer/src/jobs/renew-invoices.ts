import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Sender } from '../platform/sender.js';
import { Store } from '../store/store.js';
import { BasketRepository } from '../baskets/basket.repository.js';
import { type Total, TotalRepository } from '../baskets/total.repository.js';

/** A basket without a change for so long was forgotten at the till: its code is not made again. */
const FORGOTTEN_MS = 12 * 3_600_000;

/** An invoice is valid for much longer: one that seems to expire sooner is a sign of a wrong clock, and no reason for another. */
const YOUNG_MS = 300_000;

/** Makes the invoice of an open basket again when it has expired (T8). */
@Injectable()
export class RenewInvoices {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(Sender) private readonly sender: Sender,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  runOnce(): void {
    const touchedAfter = this.clock.later(-FORGOTTEN_MS).toISOString();
    const madeBefore = this.clock.later(-YOUNG_MS).toISOString();
    for (const total of this.totals.listExpired({ now: this.clock.nowISO(), madeBefore, touchedAfter }))
      this.renew(total);
  }

  private renew(expired: Total): void {
    const { basketId, totalId, request, amountCents, content } = expired;
    const { siteId, externalReference } = this.baskets.get(basketId);
    this.store.transaction((tx) => {
      const isCurrent = this.totals.findCurrent(basketId, tx)?.totalId === totalId;
      this.totals.keepState(tx, totalId, 'closed');
      if (!isCurrent || request === null || externalReference === null) return;
      const again = { ...request, createdUTCDate: this.clock.nowISO() };
      const newId = this.totals.create(tx, { basketId, amountCents, content, request: again });
      this.calls.append(tx, { siteId, kind: 'make-invoice', subject: externalReference, basketId, totalId: newId });
    });
    this.sender.nudge(siteId);
  }
}

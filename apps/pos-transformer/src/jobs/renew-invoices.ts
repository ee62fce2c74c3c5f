import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { BasketRepository } from '../baskets/basket.repository.js';
import { renewInvoiceRequest } from '../baskets/invoice-request.js';
import { type RequestedTotal, TotalRepository } from '../baskets/total.repository.js';
import { PlatformClock } from '../clock/platform-clock.js';
import { CallSender } from '../platform/call-sender.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Store } from '../store/store.js';

/** A basket that has not changed for this time is abandoned, and its invoice is not renewed. */
const ABANDONED_AFTER_MS = 12 * 3_600_000;

/**
 * An invoice that is younger than this is not renewed, because the platform's invoices are valid for much longer. A
 * platform whose invoices expire at once would otherwise get a new request every two seconds.
 */
const MIN_INVOICE_AGE_MS = 300_000;

/** Creates a new invoice for an open basket whose invoice has expired (T8). */
@Injectable()
export class RenewInvoices {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(PlatformClock) private readonly clock: PlatformClock,
  ) {}

  runStep(): void {
    // With an estimated time, an invoice that customers can still pay could be closed, and offline no new one is made.
    if (!this.clock.isPlatformTimeKnown) return;
    const changedAfter = this.clock.later(-ABANDONED_AFTER_MS).toISOString();
    const createdBefore = this.clock.later(-MIN_INVOICE_AGE_MS).toISOString();
    for (const total of this.totals.listExpired({ now: this.clock.nowISO(), createdBefore, changedAfter }))
      this.renew(total);
  }

  private renew(expired: RequestedTotal): void {
    const { basketId, totalId, request, amountCents, content } = expired;
    const { siteId, externalReference } = this.baskets.get(basketId);
    this.store.transaction((tx) => {
      const isCurrent = this.totals.findCurrent(basketId, tx)?.totalId === totalId;
      this.totals.setState(tx, totalId, 'closed');
      if (!isCurrent || request === null || externalReference === null) return;
      const idempotencyKey = randomUUID();
      const newRequest = renewInvoiceRequest(request, { idempotencyKey, createdUTCDate: this.clock.nowISO() });
      const newId = this.totals.create(tx, { basketId, amountCents, content, request: newRequest, idempotencyKey });
      this.calls.append(tx, { siteId, kind: 'create-invoice', subject: externalReference, basketId, totalId: newId });
    });
    this.sender.sendDueCalls(siteId);
  }
}

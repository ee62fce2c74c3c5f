import { Inject, Injectable } from '@nestjs/common';
import type { Basket } from '../baskets/basket.repository.js';
import { type RequestedTotal, TotalRepository } from '../baskets/total.repository.js';
import type { CallOutcome } from '../platform/call-queue.js';
import { CallSender } from '../platform/call-sender.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Store, type Tx } from '../store/store.js';

/** Withdraws the total of a basket whose lines change (T3). */
@Injectable()
export class WithdrawTotal {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(CallSender) private readonly sender: CallSender,
  ) {}

  /**
   * Closes the invoice of an unpaid basket, and waits for the outcome. The call is stored, so it is also sent after an
   * outage. An invoice whose call has not been attempted is not created. If an earlier line has withdrawn the total, the
   * call is already stored.
   */
  async closeInvoices({ basketId, siteId, externalReference }: Basket, total: RequestedTotal): Promise<CallOutcome> {
    const { totalId, state, isWithdrawn } = total;
    if (isWithdrawn) return state === 'open' || state === 'queued' ? { kind: 'queued' } : { kind: 'done' };
    const callId = this.store.transaction((tx) => {
      this.calls.supersedeInvoices(tx, basketId);
      if (this.totals.mayHavePayableInvoice(basketId, tx) && externalReference !== null)
        return this.calls.append(tx, { siteId, kind: 'close-invoice', subject: externalReference, basketId, totalId });
      this.totals.closeUpTo(tx, basketId, totalId);
      return undefined;
    });
    return callId === undefined ? { kind: 'done' } : this.sender.waitForOutcome(siteId, 'invoices', callId);
  }

  /** Called in the transaction that changes the lines. From now on, no screen shows the total or its code. */
  execute(tx: Tx, { totalId }: RequestedTotal): void {
    this.totals.withdraw(tx, totalId);
  }
}

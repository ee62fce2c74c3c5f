import { Inject, Injectable } from '@nestjs/common';
import { formatRands } from '@svc/kernel';
import type { MerchantPayment } from '@svc/sdk';
import { type Basket, BasketRepository } from '../baskets/basket.repository.js';
import { type RequestedTotal, TotalRepository } from '../baskets/total.repository.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import type { Tx } from '../store/store.js';
import { calculateAmounts, coveredAmount } from './payment.js';
import { PaymentRepository } from './payment.repository.js';

/**
 * Stores a payment that the platform reports, with its basket. The stream and polling may report the same payment: the
 * second report changes nothing, because `svc_id` is unique. A payment belongs to a basket only by the id of its invoice:
 * a web order may have the reference and the amount of a basket, and is another debt (T5).
 */
@Injectable()
export class ApplyPayment {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
  ) {}

  /** @param siteId one of the configured sites */
  apply(tx: Tx, siteId: number, payment: MerchantPayment): void {
    const total = this.totals.findByInvoice(payment.invoiceReference, tx);
    const ids = { basketId: total?.basketId ?? null, totalId: total?.totalId ?? null };
    if (!this.payments.insertIfAbsent(tx, siteId, payment, ids)) return;
    if (total && payment.status === 'Success') this.applySuccess(tx, total, payment);
    this.changes.notify(siteId);
  }

  /**
   * Links the payments that the platform reported before the response with the invoice's reference arrived. The caller
   * has stored the reference.
   */
  linkEarlierPayments(tx: Tx, totalId: number, invoiceReference: string): void {
    const total = this.totals.get(totalId, tx);
    const payments = this.payments.linkToBasket(tx, invoiceReference, { basketId: total.basketId, totalId });
    const success = payments.find(({ payment }) => payment.status === 'Success');
    if (success) this.applySuccess(tx, total, success.payment);
  }

  private applySuccess(tx: Tx, { totalId, basketId }: RequestedTotal, payment: MerchantPayment): void {
    const basket = this.baskets.get(basketId, tx);
    this.totals.setState(tx, totalId, 'paid');
    const current = this.totals.findCurrent(basketId, tx);
    // Close the newer invoice, so that the customer does not pay twice.
    if (current && current.totalId !== totalId && ['open', 'queued'].includes(current.state))
      this.closeInvoice(tx, basket, current.totalId);
    if (basket.state !== 'open' && basket.state !== 'saved')
      this.appendAlert(tx, basket, payment, 'after it was closed. Refund it, or hand out the goods.');
    else if (coveredAmount(payment) !== payment.invoicedAmount)
      this.appendAlert(
        tx,
        basket,
        payment,
        `instead of ${formatRands(payment.invoicedAmount)}. Settle the difference at the till.`,
      );
    else if (current?.totalId !== totalId && current?.amountCents !== payment.invoicedAmount)
      this.appendAlert(
        tx,
        basket,
        payment,
        `for an earlier version of it. It now owes ${formatRands(current?.amountCents ?? 0)}.`,
      );
    else if (current?.isWithdrawn)
      this.appendAlert(
        tx,
        basket,
        payment,
        'before its lines were changed. Send total again, and settle the difference.',
      );
  }

  private closeInvoice(tx: Tx, basket: Basket, totalId: number): void {
    this.calls.supersedeInvoices(tx, basket.basketId);
    if (this.totals.mayHavePayableInvoice(basket.basketId, tx))
      this.calls.append(tx, {
        siteId: basket.siteId,
        kind: 'close-invoice',
        subject: basket.externalReference!,
        basketId: basket.basketId,
        totalId,
      });
    else this.totals.closeUpTo(tx, basket.basketId, totalId);
  }

  /** @param circumstance end of the sentence "Order 17: R 1.00 was paid …" */
  private appendAlert(tx: Tx, basket: Basket, payment: MerchantPayment, circumstance: string): void {
    const paid = formatRands(calculateAmounts(payment).paid);
    this.alerts.append(tx, basket.siteId, basket.till, `Order ${basket.reference}: ${paid} was paid ${circumstance}`);
  }
}

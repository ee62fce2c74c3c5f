import { Inject, Injectable } from '@nestjs/common';
import type { MerchantPayment } from '@svc/sdk';
import { formatRands } from '../answers/answer.js';
import { type Basket, BasketRepository } from '../baskets/basket.repository.js';
import { type Total, TotalRepository } from '../baskets/total.repository.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import type { Tx } from '../store/store.js';
import { calculateAmounts, coveredAmount } from './payment.js';
import { PaymentRepository } from './payment.repository.js';

/**
 * Stores a payment that the platform reports, with its basket. The stream and polling may report the same payment: the
 * second report changes nothing, because `svc_id` is unique.
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
    const basket = total ? this.baskets.get(total.basketId, tx) : this.findByExternalReference(tx, siteId, payment);
    const ids = { basketId: basket?.basketId ?? null, totalId: total?.totalId ?? null };
    if (!this.payments.insertIfAbsent(tx, siteId, payment, ids)) return;
    if (basket && payment.status === 'Success') this.applySuccess(tx, basket, ids.totalId, payment);
    this.changes.notify(siteId);
  }

  /**
   * The basket of an invoice that is not stored here, because the response was lost or has not arrived. The basket is
   * found by the external reference of the payment. A web shop of the same site may use the same reference, so the till
   * must also have requested the same amount for the basket (a total), and the invoice of this total must be unknown.
   */
  private findByExternalReference(tx: Tx, siteId: number, payment: MerchantPayment): Basket | undefined {
    const { invoiceExternalReference, invoicedAmount, siteReference } = payment;
    const basket = this.baskets.findByExternalReference(siteId, invoiceExternalReference, tx);
    const isTotalOfPayment = (total: Total): boolean =>
      total.amountCents === invoicedAmount && total.request?.siteReference === siteReference;
    return basket && this.totals.listWithUnknownInvoice(basket.basketId, tx).some(isTotalOfPayment)
      ? basket
      : undefined;
  }

  /** Links the payments that the platform reported before the response with the invoice's reference arrived. */
  linkEarlierPayments(tx: Tx, totalId: number, invoiceReference: string): void {
    const { basketId } = this.totals.get(totalId, tx);
    const payments = this.payments.linkToBasket(tx, invoiceReference, { basketId, totalId });
    const success = payments.find(({ payment }) => payment.status === 'Success');
    if (!success) return;
    // `apply` may have found the basket by the external reference. Then its alerts are already appended.
    if (success.basketId === basketId) this.totals.setState(tx, totalId, 'paid');
    else this.applySuccess(tx, this.baskets.get(basketId, tx), totalId, success.payment);
  }

  private applySuccess(tx: Tx, basket: Basket, totalId: number | null, payment: MerchantPayment): void {
    if (totalId !== null) this.totals.setState(tx, totalId, 'paid');
    const current = this.totals.findCurrent(basket.basketId, tx);
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
  }

  private closeInvoice(tx: Tx, basket: Basket, totalId: number): void {
    this.calls.cancelCallsOfBasket(tx, basket.basketId, 'make-invoice');
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

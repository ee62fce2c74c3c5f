import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { assertExpectedPayment, type HostedPaymentNotification } from '@svc/sdk';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { formatMerchantOrderId, type Order, parseOrderNumber } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { CURRENCY } from '../orders/products.js';

/**
 * Applies a verified webhook. The platform delivers webhooks at least once and in any order. Therefore each
 * `webhook-id` is applied once, and the first successful payment marks the order as paid.
 */
@Injectable()
export class RecordPayment {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(OrderRepository) private readonly orders: OrderRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /**
   * @throws DomainError resource.not-found for an unknown order. After this error the platform retries, so that no
   * payment is lost while this shop restores its database
   * @throws WebhookVerificationError if amount or currency differ from the order, which does not become paid
   */
  async execute(webhookId: string, payment: HostedPaymentNotification): Promise<void> {
    const order = await this.findOrder(payment);
    assertExpectedPayment(payment, {
      merchantOrderId: formatMerchantOrderId(order),
      amount: order.totalCents,
      currencyISOCode: CURRENCY,
    });
    const { orderId } = order;
    const { sessionId, paymentReference, paymentStatus, userMessage, paymentUTCDate } = payment;
    const isSecondPayment = await inTransaction(this.dataSource, async (tx) => {
      const webhook = { webhookId, orderId, sessionId, paymentReference, paymentStatus, userMessage, paymentUTCDate };
      const isNew = await this.orders.insertWebhookIfAbsent(tx, webhook, this.clock.now());
      if (!isNew || paymentStatus !== 'Success') return false;
      return !(await this.orders.markPaid(tx, orderId, paymentReference, paymentUTCDate));
    });
    if (isSecondPayment)
      this.log.error({ orderId, paymentReference }, 'the order was already paid, and was paid again');
  }

  private async findOrder(payment: HostedPaymentNotification): Promise<Order> {
    const orderNumber = parseOrderNumber(payment.merchantOrderId);
    const order = orderNumber === undefined ? undefined : await this.orders.findByNumber(orderNumber);
    if (!order) throw new DomainError('resource.not-found', { message: 'There is no such order.' });
    return order;
  }
}

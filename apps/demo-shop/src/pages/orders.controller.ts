import { Body, Controller, Get, HttpStatus, Inject, Param, Post, Query, Res, UseFilters } from '@nestjs/common';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import type { Order } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { PayOrder } from '../orders/pay-order.js';
import { PlaceOrder } from '../orders/place-order.js';
import { ErrorPageFilter } from './error-page.filter.js';
import { computeRefreshSeconds, renderOrderPage } from './order-page.js';
import { PageSender } from './page-sender.js';

/** The pages and redirects of an order: checkout, redirect to the payment page, return, and state of the payment. */
@Controller()
@UseFilters(ErrorPageFilter)
export class OrdersController {
  constructor(
    @Inject(PlaceOrder) private readonly placeOrder: PlaceOrder,
    @Inject(PayOrder) private readonly payOrder: PayOrder,
    @Inject(OrderRepository) private readonly orders: OrderRepository,
    @Inject(PageSender) private readonly page: PageSender,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Post('orders')
  async checkOut(@Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.redirectToPayment(await this.placeOrder.execute(form), reply);
  }

  @Post('orders/:orderId/pay')
  async pay(@Param('orderId') orderId: string, @Res() reply: FastifyReply): Promise<void> {
    await this.redirectToPayment(await this.getOrder(orderId), reply);
  }

  @Get('orders/:orderId')
  async show(
    @Param('orderId') orderId: string,
    @Query('left') left: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const order = await this.getOrder(orderId);
    const failedPayments = await this.orders.listFailedPayments(order.orderId);
    const refresh = computeRefreshSeconds(order, this.clock.now());
    await this.page.send(
      reply,
      HttpStatus.OK,
      renderOrderPage(order, failedPayments, { refresh, hasLeftPayment: left === 'payment' }),
    );
  }

  /**
   * Handles the return of the payer after a successful payment. Does not change the order, because only a webhook marks
   * it as paid.
   */
  @Get('return')
  async returned(@Query('orderId') orderId: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.redirectToOrder(await this.getOrder(orderId), reply);
  }

  @Get('cancelled')
  async cancelled(@Query('orderId') orderId: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.redirectToOrder(await this.getOrder(orderId), reply, '?left=payment');
  }

  private async redirectToPayment(order: Order, reply: FastifyReply): Promise<void> {
    const paymentPage = await this.payOrder.execute(order);
    if (paymentPage === undefined) return this.redirectToOrder(order, reply);
    await reply.header('cache-control', 'no-store').redirect(paymentPage, HttpStatus.SEE_OTHER);
  }

  private async redirectToOrder(order: Order, reply: FastifyReply, query = ''): Promise<void> {
    await reply.header('cache-control', 'no-store').redirect(`/orders/${order.orderId}${query}`, HttpStatus.SEE_OTHER);
  }

  private async getOrder(orderId: unknown): Promise<Order> {
    const order = isUuid(orderId) ? await this.orders.find(orderId) : undefined;
    if (!order) throw new DomainError('resource.not-found', { message: 'There is no such order.' });
    return order;
  }
}

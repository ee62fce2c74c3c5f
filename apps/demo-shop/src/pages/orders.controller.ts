import { Body, Controller, Get, HttpStatus, Inject, Param, Post, Query, Res, UseFilters } from '@nestjs/common';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { ErrorPages } from './error-pages.filter.js';
import { orderPage, refreshSeconds } from './order-page.js';
import { SendPage } from './send-page.js';
import type { Order } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { PayOrder } from '../orders/pay-order.js';
import { PlaceOrder } from '../orders/place-order.js';

/** A customer's way through an order: check out, pay on the platform's page, come back, see what became of it. */
@Controller()
@UseFilters(ErrorPages)
export class OrdersController {
  constructor(
    @Inject(PlaceOrder) private readonly placeOrder: PlaceOrder,
    @Inject(PayOrder) private readonly payOrder: PayOrder,
    @Inject(OrderRepository) private readonly orders: OrderRepository,
    @Inject(SendPage) private readonly page: SendPage,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Post('orders')
  async checkOut(@Body() form: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.goAndPay(await this.placeOrder.execute(form), reply);
  }

  @Post('orders/:orderId/pay')
  async pay(@Param('orderId') orderId: string, @Res() reply: FastifyReply): Promise<void> {
    await this.goAndPay(await this.getOrder(orderId), reply);
  }

  @Get('orders/:orderId')
  async show(
    @Param('orderId') orderId: string,
    @Query('left') left: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const order = await this.getOrder(orderId);
    const failedTries = await this.orders.failedTriesOf(order.orderId);
    const refresh = refreshSeconds(order, this.clock.now());
    await this.page.send(
      reply,
      HttpStatus.OK,
      orderPage(order, failedTries, { refresh, hasLeftPayment: left === 'payment' }),
    );
  }

  /** The payer comes from a successful payment; the order says so only when the webhook has come as well. */
  @Get('return')
  async returned(@Query('orderId') orderId: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.toOrder(await this.getOrder(orderId), reply);
  }

  @Get('cancelled')
  async cancelled(@Query('orderId') orderId: unknown, @Res() reply: FastifyReply): Promise<void> {
    await this.toOrder(await this.getOrder(orderId), reply, '?left=payment');
  }

  private async goAndPay(order: Order, reply: FastifyReply): Promise<void> {
    const paymentPage = await this.payOrder.execute(order);
    if (paymentPage === undefined) return this.toOrder(order, reply);
    await reply.header('cache-control', 'no-store').redirect(paymentPage, HttpStatus.SEE_OTHER);
  }

  private async toOrder(order: Order, reply: FastifyReply, query = ''): Promise<void> {
    await reply.header('cache-control', 'no-store').redirect(`/orders/${order.orderId}${query}`, HttpStatus.SEE_OTHER);
  }

  private async getOrder(orderId: unknown): Promise<Order> {
    const order = isUuid(orderId) ? await this.orders.find(orderId) : undefined;
    if (!order) throw new DomainError('resource.not-found', { message: 'There is no such order.' });
    return order;
  }
}

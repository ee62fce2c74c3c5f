import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { type Order, readCheckout, totalOf } from './order.js';
import { OrderRepository } from './order.repository.js';

/** Creates the order of a checkout once. Computes the total from the shop's own prices. */
@Injectable()
export class PlaceOrder {
  constructor(
    @Inject(OrderRepository) private readonly orders: OrderRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  execute(form: unknown): Promise<Order> {
    const checkout = readCheckout(form);
    const totalCents = totalOf(checkout.lines);
    // Random, not ordered by time: only the secret id protects an order from strangers.
    return this.orders.createOrFind(checkout, { orderId: randomUUID(), totalCents, createdAt: this.clock.now() });
  }
}

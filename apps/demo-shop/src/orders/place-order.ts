import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { computeTotal, type Order, readCheckout } from './order.js';
import { OrderRepository } from './order.repository.js';

/** Creates one order for each checkout. Computes the total from the prices of the shop. */
@Injectable()
export class PlaceOrder {
  constructor(
    @Inject(OrderRepository) private readonly orders: OrderRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  execute(form: unknown): Promise<Order> {
    const checkout = readCheckout(form);
    const totalCents = computeTotal(checkout.lines);
    // The id must be random (not ordered by time), because it is the secret with which a client may read the order.
    return this.orders.createOrFind(checkout, { orderId: randomUUID(), totalCents, createdAt: this.clock.now() });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Checkout, FailedTry, Order } from './order.js';

/** What a verified notification says of one payment, as it is kept. */
export interface ReceivedWebhook {
  readonly webhookId: string;
  readonly orderId: string;
  readonly sessionId: string;
  readonly paymentReference: string;
  readonly paymentStatus: 'Success' | 'Failed';
  readonly userMessage: string | undefined;
  readonly paymentUTCDate: string;
}

const COLUMNS = `order_id AS "orderId", order_number AS "orderNumber", lines, total_cents AS "totalCents",
  created_at AS "createdAt", state, payment_reference AS "paymentReference", paid_at AS "paidAt",
  session_number AS "sessionNumber", session_requested_at AS "sessionRequestedAt", session_id AS "sessionId",
  redirect_url AS "redirectUrl"`;

/** Failed tries shown and counted; more than a customer ever makes. */
const FAILED_TRIES_MAX = 100;

/** The orders' tables. */
@Injectable()
export class OrderRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The order of a checkout: a new one, or the one that the same checkout made before. */
  async createOrFind(checkout: Checkout, order: Pick<Order, 'orderId' | 'totalCents' | 'createdAt'>): Promise<Order> {
    const [created] = await this.dataSource.query<Order[]>(
      `INSERT INTO orders (order_id, checkout_key, lines, total_cents, created_at, state, session_number, session_requested_at)
       VALUES ($1, $2, $3, $4, $5, 'awaiting-payment', 1, $5)
       ON CONFLICT ON CONSTRAINT orders_checkout_key DO NOTHING RETURNING ${COLUMNS}`,
      [order.orderId, checkout.checkoutKey, JSON.stringify(checkout.lines), order.totalCents, order.createdAt],
    );
    if (created) return created;
    const [first] = await this.dataSource.query<Order[]>(`SELECT ${COLUMNS} FROM orders WHERE checkout_key = $1`, [
      checkout.checkoutKey,
    ]);
    if (!first) throw new Error('The order that holds the checkout key is not there.');
    return first;
  }

  async find(orderId: string): Promise<Order | undefined> {
    const [order] = await this.dataSource.query<Order[]>(`SELECT ${COLUMNS} FROM orders WHERE order_id = $1`, [
      orderId,
    ]);
    return order;
  }

  async findByNumber(orderNumber: number): Promise<Order | undefined> {
    const [order] = await this.dataSource.query<Order[]>(`SELECT ${COLUMNS} FROM orders WHERE order_number = $1`, [
      orderNumber,
    ]);
    return order;
  }

  /** Oldest first. */
  failedTriesOf(orderId: string): Promise<FailedTry[]> {
    return this.dataSource.query<FailedTry[]>(
      `SELECT session_id AS "sessionId", payment_reference AS "paymentReference", user_message AS "userMessage", payment_utc_date AS "paymentUTCDate"
       FROM received_webhooks WHERE order_id = $1 AND payment_status = 'Failed' ORDER BY payment_utc_date LIMIT ${FAILED_TRIES_MAX}`,
      [orderId],
    );
  }

  /** Moves on to the next session, unless somebody else has just done so. Returns the order as it is then. */
  async beginNextSession(order: Order, now: Date): Promise<Order> {
    await this.dataSource.query(
      `UPDATE orders SET session_number = session_number + 1, session_requested_at = $3,
         session_id = NULL, redirect_url = NULL
       WHERE order_id = $1 AND session_number = $2 AND state = 'awaiting-payment'`,
      [order.orderId, order.sessionNumber, now],
    );
    return (await this.find(order.orderId)) ?? order;
  }

  /** Keeps the session the platform made, unless the order has moved on to another. */
  async keepSession(order: Order, session: { sessionId: string; redirectUrl: string }): Promise<void> {
    await this.dataSource.query(
      `UPDATE orders SET session_id = $3, redirect_url = $4 WHERE order_id = $1 AND session_number = $2`,
      [order.orderId, order.sessionNumber, session.sessionId, session.redirectUrl],
    );
  }

  /** False when this notification was kept before. */
  async keepWebhook(tx: EntityManager, webhook: ReceivedWebhook, now: Date): Promise<boolean> {
    const kept = await tx.query<unknown[]>(
      `INSERT INTO received_webhooks (webhook_id, order_id, session_id, payment_reference, payment_status, user_message, payment_utc_date, received_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (webhook_id) DO NOTHING RETURNING webhook_id`,
      [
        webhook.webhookId,
        webhook.orderId,
        webhook.sessionId,
        webhook.paymentReference,
        webhook.paymentStatus,
        webhook.userMessage ?? null,
        webhook.paymentUTCDate,
        now,
      ],
    );
    return kept.length === 1;
  }

  /** False when the order was paid already. */
  async markPaid(tx: EntityManager, orderId: string, paymentReference: string, paidAt: string): Promise<boolean> {
    // An UPDATE answers with [rows, count].
    const [paid] = await tx.query<[unknown[], number]>(
      `UPDATE orders SET state = 'paid', payment_reference = $2, paid_at = $3
       WHERE order_id = $1 AND state = 'awaiting-payment' RETURNING order_id`,
      [orderId, paymentReference, paidAt],
    );
    return paid.length === 1;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Checkout, FailedPayment, Order } from './order.js';

/** A row of `received_webhooks`: the payment in a verified webhook. */
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

/** Maximum number of failed payments that the shop reads for an order. Customers make fewer. */
const MAX_FAILED_PAYMENTS = 100;

@Injectable()
export class OrderRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Creates the order of a checkout, or finds the order that an earlier request of the same checkout created. */
  async createOrFind(checkout: Checkout, order: Pick<Order, 'orderId' | 'totalCents' | 'createdAt'>): Promise<Order> {
    const [created] = await this.dataSource.query<Order[]>(
      `INSERT INTO orders (order_id, checkout_key, lines, total_cents, created_at, state, session_number, session_requested_at)
       VALUES ($1, $2, $3, $4, $5, 'awaiting-payment', 1, $5)
       ON CONFLICT ON CONSTRAINT orders_checkout_key DO NOTHING RETURNING ${COLUMNS}`,
      [order.orderId, checkout.checkoutKey, JSON.stringify(checkout.lines), order.totalCents, order.createdAt],
    );
    if (created) return created;
    const [existing] = await this.dataSource.query<Order[]>(`SELECT ${COLUMNS} FROM orders WHERE checkout_key = $1`, [
      checkout.checkoutKey,
    ]);
    if (!existing) throw new Error('An order with this checkout key exists, but cannot be found.');
    return existing;
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

  /** The failed payment attempts of an order, oldest first. */
  listFailedPayments(orderId: string): Promise<FailedPayment[]> {
    return this.dataSource.query<FailedPayment[]>(
      `SELECT session_id AS "sessionId", payment_reference AS "paymentReference", user_message AS "userMessage", payment_utc_date AS "paymentUTCDate"
       FROM received_webhooks WHERE order_id = $1 AND payment_status = 'Failed' ORDER BY payment_utc_date LIMIT ${MAX_FAILED_PAYMENTS}`,
      [orderId],
    );
  }

  /** Increments the session number, unless a concurrent request has already done so. Returns the current order. */
  async beginNextSession(order: Order, now: Date): Promise<Order> {
    await this.dataSource.query(
      `UPDATE orders SET session_number = session_number + 1, session_requested_at = $3,
         session_id = NULL, redirect_url = NULL
       WHERE order_id = $1 AND session_number = $2 AND state = 'awaiting-payment'`,
      [order.orderId, order.sessionNumber, now],
    );
    return (await this.find(order.orderId)) ?? order;
  }

  /** Stores the session that the platform created, unless the session number of the order has changed meanwhile. */
  async setSession(order: Order, session: { sessionId: string; redirectUrl: string }): Promise<void> {
    await this.dataSource.query(
      `UPDATE orders SET session_id = $3, redirect_url = $4 WHERE order_id = $1 AND session_number = $2`,
      [order.orderId, order.sessionNumber, session.sessionId, session.redirectUrl],
    );
  }

  /** Stores a webhook. Returns false if it was stored before. */
  async insertWebhookIfAbsent(tx: EntityManager, webhook: ReceivedWebhook, now: Date): Promise<boolean> {
    const insertedRows = await tx.query<unknown[]>(
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
    return insertedRows.length === 1;
  }

  /** Marks an order as paid. Returns false if it was already paid. */
  async markPaid(tx: EntityManager, orderId: string, paymentReference: string, paidAt: string): Promise<boolean> {
    // TypeORM returns [rows, count] for an UPDATE.
    const [updatedRows] = await tx.query<[unknown[], number]>(
      `UPDATE orders SET state = 'paid', payment_reference = $2, paid_at = $3
       WHERE order_id = $1 AND state = 'awaiting-payment' RETURNING order_id`,
      [orderId, paymentReference, paidAt],
    );
    return updatedRows.length === 1;
  }
}

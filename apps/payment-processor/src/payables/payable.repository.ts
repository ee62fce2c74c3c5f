import { Inject, Injectable } from '@nestjs/common';
import {
  type HostedPayableDescriptor,
  PayableClosedV1,
  type PayableDescriptor,
  type PayableSnapshot,
  type PayableState,
} from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { type ColumnMap, insertedColumns, recordColumns, type Transaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PayableTerms } from './payable.js';

type CurrentPayable = PayableSnapshot & PayableTerms;

/** The columns of a payable that never change, except for `expires_at`, which may be extended. */
export const PAYABLE_MAP: ColumnMap<keyof HostedPayableDescriptor> = {
  payableId: ['payable_id', 'uuid'],
  mode: ['mode', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  siteId: ['site_id', 'bigint'],
  amount: ['amount', 'bigint'],
  currencyISOCode: ['currency', 'text'],
  expiresAt: ['expires_at', 'timestamptz'],
  maxPayments: ['max_payments', 'int'],
  source: ['source', 'jsonb'],
};

/** Inserts, reads and closes payables. Payables are reserved and settled in payment.repository.ts. */
@Injectable()
export class PayableRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Inserts new payables. A payable that already exists, for example from a payment, does not change. The rows are
   * inserted in the order of their ids. The statement that accepts payments uses the same order, because different
   * orders could cause a deadlock.
   */
  async insertIfAbsent(connection: EntityManager, payables: readonly PayableDescriptor[]): Promise<void> {
    await connection.query(
      `INSERT INTO payables (${insertedColumns(PAYABLE_MAP)}, state, holder, payment_count, version, created_at, modified_at)
       SELECT payable.*, 'open', NULL, 0, 1, $2, $2
         FROM jsonb_to_recordset($1::jsonb) AS payable(${recordColumns(PAYABLE_MAP)})
        ORDER BY "payableId"
       ON CONFLICT (payable_id) DO NOTHING`,
      [JSON.stringify(payables), this.clock.now()],
    );
  }

  /**
   * Extends the expiry of payables. Inserts missing payables, because the event of their session may arrive later.
   * Never shortens an expiry, because events may be repeated and may arrive in any order.
   */
  async extendExpiry(connection: EntityManager, payables: readonly PayableDescriptor[]): Promise<void> {
    await this.insertIfAbsent(connection, payables);
    await connection.query(
      `UPDATE payables p SET expires_at = longer.expires_at
         FROM unnest($1::uuid[], $2::timestamptz[]) AS longer(payable_id, expires_at)
        WHERE p.payable_id = longer.payable_id AND p.expires_at < longer.expires_at`,
      [payables.map(({ payableId }) => payableId), payables.map(({ expiresAt }) => expiresAt)],
    );
  }

  /**
   * Finds a payable by its id, without a check of its owner, because only other services use this query, never a
   * merchant or a payer.
   */
  async find(payableId: string, tx?: EntityManager): Promise<CurrentPayable | undefined> {
    const [row] = await (tx ?? this.dataSource).query<CurrentPayable[]>(
      `SELECT payable_id AS "payableId", state, version, payment_count AS "paymentCount", max_payments AS "maxPayments",
              mode, merchant_id AS "merchantId",
              site_id AS "siteId", amount, currency AS "currencyISOCode", expires_at AS "expiresAt"
         FROM payables WHERE payable_id = $1`,
      [payableId],
    );
    return row;
  }

  /** Changes `open → closed`, and publishes the event. Undefined when the payable was not open. */
  async close(tx: Transaction, payableId: string): Promise<PayableSnapshot | undefined> {
    const [rows] = await tx.query<
      [{ payableId: string; state: PayableState; version: number; paymentCount: number }[], number]
    >(
      `UPDATE payables SET state = 'closed', version = version + 1, modified_at = $2
        WHERE payable_id = $1 AND state = 'open' 
        RETURNING payable_id AS "payableId", state, version, payment_count AS "paymentCount"`,
      [payableId, this.clock.now()],
    );
    const closed = rows[0];
    if (!closed) return undefined;
    await this.events.append(tx, {
      type: PayableClosedV1,
      aggregateId: payableId,
      aggregateVersion: closed.version,
      payload: closed,
    });
    return closed;
  }
}

import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { type Reader, Store, type Tx } from '../store/store.js';
import type { NewRefund, Refund, RefundState } from './refund.js';

const COLUMNS = `refund_id AS refundId, site_id AS siteId, svc_id AS svcId, amount AS amountCents, reference,
  idempotency_key AS idempotencyKey, state, refusal, created_at AS createdAt`;

@Injectable()
export class RefundRepository {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  create(tx: Tx, siteId: number, { svcId, amountCents, reference }: NewRefund): number {
    return tx.run(
      `INSERT INTO refunds (site_id, svc_id, amount, reference, idempotency_key, state, created_at)
       VALUES (:siteId, :svcId, :amountCents, :reference, :key, 'queued', :now)`,
      { siteId, svcId, amountCents, reference: reference ?? null, key: randomUUID(), now: this.clock.nowISO() },
    ).id;
  }

  get(refundId: number, from: Reader = this.store): Refund {
    return from.find<Refund>(`SELECT ${COLUMNS} FROM refunds WHERE refund_id = :refundId`, { refundId })!;
  }

  /** The refunds of the payment, and the site's refund with this RefundReference, even if it is of another payment. */
  listEarlier(siteId: number, svcId: string, reference: string | undefined): Refund[] {
    return this.store.list(
      `SELECT ${COLUMNS} FROM refunds
       WHERE svc_id = :svcId OR (site_id = :siteId AND reference = :reference) ORDER BY refund_id`,
      { siteId, svcId, reference: reference ?? null },
    );
  }

  setOutcome(
    tx: Tx,
    refundId: number,
    outcome: { state: RefundState; refundReference?: string; refusal?: string },
  ): void {
    tx.run(
      `UPDATE refunds SET state = :state, refund_reference = coalesce(:refundReference, refund_reference), refusal = :refusal
       WHERE refund_id = :refundId`,
      {
        refundId,
        state: outcome.state,
        refundReference: outcome.refundReference ?? null,
        refusal: outcome.refusal ?? null,
      },
    );
  }

  /**
   * Refunds of the site that the platform has accepted and the bank has not decided, created at `before` or earlier.
   */
  listPending(siteId: number, before: string): Refund[] {
    return this.store.list(
      `SELECT ${COLUMNS} FROM refunds
       WHERE site_id = :siteId AND state = 'pending' AND refund_reference IS NOT NULL AND created_at <= :before
       ORDER BY refund_id`,
      { siteId, before },
    );
  }

  /** The refund with this reference of the platform, if its state is not final. */
  findPending(refundReference: string, from: Reader = this.store): Refund | undefined {
    return from.find(
      `SELECT ${COLUMNS} FROM refunds WHERE refund_reference = :refundReference AND state IN ('queued', 'pending')`,
      { refundReference },
    );
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { type Reader, Store, type Tx } from '../store/store.js';

export type CallKind = 'create-invoice' | 'close-invoice' | 'refund';

/** Calls of a queue are sent one after the other. Refunds have their own queue, because a refund may take 20 s (M5). */
export type QueueName = 'invoices' | 'refunds';

export const KINDS_OF_QUEUE: Readonly<Record<QueueName, readonly CallKind[]>> = {
  invoices: ['create-invoice', 'close-invoice'],
  refunds: ['refund'],
};

interface NewCall {
  readonly siteId: number;
  readonly kind: CallKind;
  /**
   * An external reference, or a payment's SvcId. Calls with the same subject are sent in the order in which they were
   * appended.
   */
  readonly subject: string;
  readonly basketId?: number;
  readonly totalId?: number;
  readonly refundId?: number;
}

export interface OutgoingCall {
  readonly callId: number;
  readonly siteId: number;
  readonly kind: CallKind;
  readonly subject: string;
  readonly basketId: number | null;
  readonly totalId: number | null;
  readonly refundId: number | null;
  readonly state: 'waiting' | 'done' | 'cancelled' | 'refused';
  /** Number of attempts that have begun, without those that have certainly not reached the platform. */
  readonly attempts: number;
  /**
   * Number of attempts to which the platform responded with an error. After `MAX_FAILURES` such attempts, the queue
   * gives up the call.
   */
  readonly failures: number;
}

const COLUMNS = `call_id AS callId, site_id AS siteId, kind, subject, basket_id AS basketId, total_id AS totalId,
  refund_id AS refundId, state, attempts, failures`;

/** The outbox of calls to the platform. A call is stored in the same transaction as the change that causes it. */
@Injectable()
export class OutgoingCallRepository {
  constructor(@Inject(Store) private readonly store: Store) {}

  append(tx: Tx, call: NewCall): number {
    return tx.run(
      `INSERT INTO outgoing_calls (site_id, kind, subject, basket_id, total_id, refund_id, state)
       VALUES (:siteId, :kind, :subject, :basketId, :totalId, :refundId, 'waiting')`,
      {
        siteId: call.siteId,
        kind: call.kind,
        subject: call.subject,
        basketId: call.basketId ?? null,
        totalId: call.totalId ?? null,
        refundId: call.refundId ?? null,
      },
    ).id;
  }

  /**
   * The next call of a queue: the oldest waiting call that is not postponed and has no earlier waiting call of the same
   * subject.
   */
  findNext(siteId: number, queue: QueueName, postponedIds: readonly number[]): OutgoingCall | undefined {
    return this.store.find(
      `SELECT ${COLUMNS} FROM outgoing_calls AS next
       WHERE site_id = :siteId AND state = 'waiting' AND kind IN (SELECT value FROM json_each(:kinds))
         AND call_id NOT IN (SELECT value FROM json_each(:postponedIds))
         AND NOT EXISTS (SELECT 1 FROM outgoing_calls AS earlier
                         WHERE earlier.site_id = next.site_id AND earlier.subject = next.subject
                           AND earlier.state = 'waiting' AND earlier.call_id < next.call_id)
       ORDER BY call_id LIMIT 1`,
      { siteId, kinds: JSON.stringify(KINDS_OF_QUEUE[queue]), postponedIds: JSON.stringify(postponedIds) },
    );
  }

  /** Whether a call of the queue waits that is not postponed. */
  hasDueCall(siteId: number, queue: QueueName, postponedIds: readonly number[]): boolean {
    const found = this.store.find(
      `SELECT 1 FROM outgoing_calls
       WHERE site_id = :siteId AND state = 'waiting' AND kind IN (SELECT value FROM json_each(:kinds))
         AND call_id NOT IN (SELECT value FROM json_each(:postponedIds))
       LIMIT 1`,
      { siteId, kinds: JSON.stringify(KINDS_OF_QUEUE[queue]), postponedIds: JSON.stringify(postponedIds) },
    );
    return found !== undefined;
  }

  /** The waiting call that creates the invoice of a total (an amount that a till requested). */
  findWaitingInvoiceCall(totalId: number, from: Reader = this.store): number | undefined {
    return from.find<{ callId: number }>(
      `SELECT call_id AS callId FROM outgoing_calls
       WHERE total_id = :totalId AND kind = 'create-invoice' AND state = 'waiting'`,
      { totalId },
    )?.callId;
  }

  /**
   * Called before each attempt, in a separate transaction. A call without attempts has certainly not reached the
   * platform.
   */
  countAttempt(callId: number): void {
    this.store.transaction((tx) =>
      tx.run('UPDATE outgoing_calls SET attempts = attempts + 1 WHERE call_id = :callId', { callId }),
    );
  }

  /** Called after an attempt that has certainly not reached the platform. */
  uncountAttempt(callId: number): void {
    this.store.transaction((tx) =>
      tx.run('UPDATE outgoing_calls SET attempts = attempts - 1 WHERE call_id = :callId', { callId }),
    );
  }

  end(tx: Tx, callId: number, state: 'done' | 'refused', problem?: string): void {
    tx.run(
      `UPDATE outgoing_calls SET state = CASE state WHEN 'waiting' THEN :state ELSE state END, problem = :problem
       WHERE call_id = :callId`,
      { callId, state, problem: problem ?? null },
    );
  }

  recordFailure(callId: number, { failures, problem }: { failures: number; problem: string }): void {
    this.store.transaction((tx) =>
      tx.run('UPDATE outgoing_calls SET failures = :failures, problem = :problem WHERE call_id = :callId', {
        callId,
        failures,
        problem,
      }),
    );
  }

  /**
   * Called when the invoices of a basket are no longer needed. Cancels the waiting calls that create them, if they have
   * not been attempted. An attempted call may have created an invoice, so it is repeated, because only its response
   * tells which invoice belongs to the basket.
   */
  supersedeInvoices(tx: Tx, basketId: number): void {
    tx.run(
      `UPDATE outgoing_calls SET state = 'cancelled'
       WHERE basket_id = :basketId AND kind = 'create-invoice' AND state = 'waiting' AND attempts = 0`,
      { basketId },
    );
  }

  /** The superseded calls for which a call waits, because they have the same subject. */
  listSupersededBefore(callId: number): number[] {
    return this.store
      .list<{ callId: number }>(
        `SELECT earlier.call_id AS callId FROM outgoing_calls AS call JOIN outgoing_calls AS earlier
             ON earlier.site_id = call.site_id AND earlier.subject = call.subject AND earlier.call_id < call.call_id
          WHERE call.call_id = :callId AND earlier.kind = 'create-invoice' AND earlier.state = 'waiting'`,
        { callId },
      )
      .map((row) => row.callId);
  }

  isWaiting(callId: number): boolean {
    return (
      this.store.find(`SELECT 1 FROM outgoing_calls WHERE call_id = :callId AND state = 'waiting'`, { callId }) !==
      undefined
    );
  }

  countWaiting(siteId: number): number {
    return this.store.find<{ waiting: number }>(
      `SELECT count(*) AS waiting FROM outgoing_calls WHERE site_id = :siteId AND state = 'waiting'`,
      { siteId },
    )!.waiting;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { Store, type Tx } from '../store/store.js';

export type CallKind = 'make-invoice' | 'close-invoice' | 'refund';

/** Calls of a lane are made one after the other: a refund may take 20 s (M5), and no invoice waits for it. */
export type LaneName = 'invoices' | 'refunds';

export const KINDS_OF_LANE: Readonly<Record<LaneName, readonly CallKind[]>> = {
  invoices: ['make-invoice', 'close-invoice'],
  refunds: ['refund'],
};

export interface NewCall {
  readonly siteId: number;
  readonly kind: CallKind;
  /** Calls of one subject are made in their order. */
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
  /** Tries that have begun. */
  readonly tries: number;
  /** Those of them that the platform answered with an error: the sender gives up after a number of these. */
  readonly failures: number;
  readonly dueAt: string;
}

const COLUMNS = `call_id AS callId, site_id AS siteId, kind, subject, basket_id AS basketId, total_id AS totalId,
  refund_id AS refundId, state, tries, failures, due_at AS dueAt`;

/** The calls that wait for the platform: kept with what causes them, in one transaction. */
@Injectable()
export class OutgoingCallRepository {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  append(tx: Tx, call: NewCall): number {
    return tx.run(
      `INSERT INTO outgoing_calls (site_id, kind, subject, basket_id, total_id, refund_id, state, due_at)
       VALUES (:siteId, :kind, :subject, :basketId, :totalId, :refundId, 'waiting', :now)`,
      {
        siteId: call.siteId,
        kind: call.kind,
        subject: call.subject,
        basketId: call.basketId ?? null,
        totalId: call.totalId ?? null,
        refundId: call.refundId ?? null,
        now: this.clock.nowISO(),
      },
    ).id;
  }

  /** The next of a lane: the oldest that is due and before which no call of its subject waits. */
  findNext(siteId: number, lane: LaneName): OutgoingCall | undefined {
    return this.store.find(
      `SELECT ${COLUMNS} FROM outgoing_calls AS next
       WHERE site_id = :siteId AND state = 'waiting' AND kind IN (SELECT value FROM json_each(:kinds)) AND due_at <= :now
         AND NOT EXISTS (SELECT 1 FROM outgoing_calls AS earlier
                         WHERE earlier.site_id = next.site_id AND earlier.subject = next.subject
                           AND earlier.state = 'waiting' AND earlier.call_id < next.call_id)
       ORDER BY call_id LIMIT 1`,
      { siteId, kinds: JSON.stringify(KINDS_OF_LANE[lane]), now: this.clock.nowISO() },
    );
  }

  /** When the next call of a lane may be made, ISO 8601; undefined when none waits. */
  nextDueAt(siteId: number, lane: LaneName): string | undefined {
    return (
      this.store.find<{ dueAt: string | null }>(
        `SELECT min(due_at) AS dueAt FROM outgoing_calls
         WHERE site_id = :siteId AND state = 'waiting' AND kind IN (SELECT value FROM json_each(:kinds))`,
        { siteId, kinds: JSON.stringify(KINDS_OF_LANE[lane]) },
      )?.dueAt ?? undefined
    );
  }

  /** The call that makes the invoice of a total, where it has not ended. */
  findWaiting(totalId: number): number | undefined {
    return this.store.find<{ callId: number }>(
      `SELECT call_id AS callId FROM outgoing_calls
       WHERE total_id = :totalId AND kind = 'make-invoice' AND state = 'waiting'`,
      { totalId },
    )?.callId;
  }

  /** Before each try, in a transaction of its own: from then on the call may have reached the platform. */
  countTry(callId: number): void {
    this.store.transaction((tx) =>
      tx.run('UPDATE outgoing_calls SET tries = tries + 1 WHERE call_id = :callId', { callId }),
    );
  }

  end(tx: Tx, callId: number, state: 'done' | 'refused', problem?: string): void {
    tx.run(
      `UPDATE outgoing_calls SET state = CASE state WHEN 'waiting' THEN :state ELSE state END, problem = :problem
       WHERE call_id = :callId`,
      { callId, state, problem: problem ?? null },
    );
  }

  postpone(callId: number, { dueAt, failures, problem }: { dueAt: Date; failures: number; problem: string }): void {
    this.store.transaction((tx) =>
      tx.run(
        'UPDATE outgoing_calls SET due_at = :dueAt, failures = :failures, problem = :problem WHERE call_id = :callId',
        { callId, dueAt: dueAt.toISOString(), failures, problem },
      ),
    );
  }

  /** Cancels the calls of a basket that wait. One that was tried may have reached the platform. */
  cancelOfBasket(tx: Tx, basketId: number, kind: CallKind): void {
    tx.run(
      `UPDATE outgoing_calls SET state = 'cancelled' WHERE basket_id = :basketId AND kind = :kind AND state = 'waiting'`,
      { basketId, kind },
    );
  }

  /** Calls that wait, and how many of them there are of each kind. */
  countWaiting(siteId: number): number {
    return this.store.find<{ waiting: number }>(
      `SELECT count(*) AS waiting FROM outgoing_calls WHERE site_id = :siteId AND state = 'waiting'`,
      { siteId },
    )!.waiting;
  }
}

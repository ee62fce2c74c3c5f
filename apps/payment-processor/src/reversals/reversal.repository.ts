import { Inject, Injectable } from '@nestjs/common';
import { type Mode, PaymentReversedV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { insertTransfersSql, SELECT_LATE_APPROVAL, type TransferRow } from '../ledger/transfer.repository.js';
import { PAYMENT_COLUMNS, PAYMENT_TABLES, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';

/** A charge that is due for reversal. */
export interface DueReversal extends ChargeRoute {
  readonly attemptId: string;
}

/** Reversals of late approvals, until the acquirer has confirmed them. */
@Injectable()
export class ReversalRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Leases due reversals, each to one caller until `leaseUntil`. Skips an attempt that is still `reversing`, because
   * the recovery job must first end the attempt and its payment. Skips a payment that is not final, because the event
   * of a reversal contains the final state of the payment.
   */
  async leaseDue(leaseUntil: Date, limit: number): Promise<DueReversal[]> {
    const [rows] = await this.dataSource.query<[DueRow[], number]>(
      `UPDATE reversals r SET next_request_at = $2
         FROM (SELECT d.attempt_id, y.mode, a.acquirer, a.account
                 FROM reversals d JOIN attempts a ON a.attempt_id = d.attempt_id JOIN payments p ON p.payment_id = a.payment_id
                 JOIN payables y ON y.payable_id = p.payable_id
                WHERE d.next_request_at <= $1 AND a.state <> 'reversing' AND p.state IN ('success', 'failed')
                ORDER BY d.next_request_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED) due
        WHERE r.attempt_id = due.attempt_id RETURNING r.attempt_id AS "attemptId", due.mode, due.acquirer, due.account`,
      [this.clock.now(), leaseUntil, limit],
    );
    return rows.map(({ attemptId, acquirer, mode, account }) => ({
      ...{ attemptId, acquirer },
      account: { mode, accountReference: account },
    }));
  }

  /**
   * Records a confirmed reversal, books its transfer and publishes its event, only once. The payment does not change
   * (P1).
   */
  async confirm(attemptId: string): Promise<PaymentSnapshot | undefined> {
    const now = this.clock.now();
    const [paymentRow] = await this.dataSource.query<PaymentRow[]>(
      `SELECT ${PAYMENT_COLUMNS} FROM ${PAYMENT_TABLES} JOIN attempts a ON a.payment_id = p.payment_id WHERE a.attempt_id = $1`,
      [attemptId],
    );
    if (!paymentRow) return undefined;
    const reversedPayment = { ...snapshotFromRow(paymentRow), reversedUTCDate: now.toISOString() };
    const event = { type: PaymentReversedV1, aggregateId: attemptId, aggregateVersion: 1, payload: reversedPayment };
    // The ledger is append-only, so the late approval cannot change after this read.
    const lateApprovals = await this.dataSource.query<TransferRow[]>(SELECT_LATE_APPROVAL, [attemptId]);
    const transfers = lateApprovals.map((lateApproval): TransferRow => ({
      ...lateApproval,
      transferId: newUuid(this.clock),
      kind: 'reversal',
      debit: lateApproval.credit,
      credit: lateApproval.debit,
      createdAt: now,
    }));
    const parameters = { attemptId, now, transfers: JSON.stringify(transfers) };
    const [row] = await this.events.write(this.dataSource, CONFIRM, parameters, [this.events.newEnvelope(event)]);
    if (!row) return undefined;
    return reversedPayment;
  }
}

const CONFIRM = statementWithEvents({
  writes: `target AS (
         UPDATE reversals SET confirmed_at = $now, next_request_at = NULL WHERE attempt_id = $attemptId AND confirmed_at IS NULL
         RETURNING attempt_id
       ), attempt AS (
         UPDATE attempts a SET state = 'reversed' FROM target WHERE a.attempt_id = target.attempt_id
       ), transfer AS (
         ${insertTransfersSql('$transfers::jsonb', 'target')}
       )`,
  changed: 'target',
  aggregateId: 'attempt_id',
});

interface DueRow {
  readonly attemptId: string;
  readonly acquirer: string;
  readonly mode: Mode;
  readonly account: string;
}

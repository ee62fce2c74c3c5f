import { Inject, Injectable } from '@nestjs/common';
import { type Mode, PaymentReversedV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { insertTransfersSql, SELECT_LATE_APPROVAL, type TransferRow } from '../ledger/transfer.repository.js';
import type { AttemptState } from '../payments/attempt.js';
import { PAYMENT_COLUMNS, PAYMENT_TABLES, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';

/** A charge that is due for reversal. */
export interface DueReversal extends ChargeRoute {
  readonly attemptId: string;
  readonly paymentReference: string;
  readonly attemptState: AttemptState;
  readonly requestedAt: Date;
}

/** A reversal, confirmed or not. */
interface KnownReversal {
  readonly attemptId: string;
}

/**
 * SQL: whether the reversal `d` of the acquirer `$4` may be requested. A join could be planned, while the tables are empty,
 * so that it reads all attempts before the reversals that are due.
 */
const IS_REQUESTABLE = `(
  SELECT b.acquirer = $4 AND b.state <> 'reversing' AND CASE WHEN d.holds_money THEN q.state IN ('success', 'failed') ELSE q.state = 'failed' END
    FROM attempts b JOIN payments q ON q.payment_id = b.payment_id WHERE b.attempt_id = d.attempt_id)`;

/** The longest time between two requests for the same reversal. */
const MAX_RETRY_DELAY = '1 hour';

/** Reversals of late approvals and releases of abandoned charges, until the acquirer has confirmed them. */
@Injectable()
export class ReversalRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Leases due reversals of this acquirer, each to one caller until `leaseUntil`. Skips an attempt that is still `reversing`, because
   * the recovery job must first end the attempt and its payment. Skips a payment that is not final, because the event
   * of a reversal contains the final state of the payment. Never releases the charge of a payment that succeeded. The
   * delay until the next request grows with the age, because an acquirer may need hours to report a reversal.
   */
  async leaseDue(acquirer: string, leaseUntil: Date, limit: number): Promise<DueReversal[]> {
    const [rows] = await this.dataSource.query<[DueRow[], number]>(
      `UPDATE reversals r SET next_request_at = greatest($2::timestamptz, $1 + least(($1 - r.requested_at) / 4, '${MAX_RETRY_DELAY}'))
         FROM (SELECT d.attempt_id FROM reversals d WHERE d.next_request_at <= $1 AND ${IS_REQUESTABLE}
                ORDER BY d.next_request_at LIMIT $3 FOR UPDATE SKIP LOCKED) due,
              attempts a JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
        WHERE r.attempt_id = due.attempt_id AND a.attempt_id = r.attempt_id
        RETURNING r.attempt_id AS "attemptId", r.requested_at AS "requestedAt",
                  y.mode, a.acquirer, a.account, a.state AS "attemptState", p.payment_reference AS "paymentReference"`,
      [this.clock.now(), leaseUntil, limit, acquirer],
    );
    return rows.map(({ mode, account, ...row }) => ({ ...row, account: { mode, accountReference: account } }));
  }

  /** Finds the reversal of a charge that an acquirer reports by the payment's reference. */
  async findByPayment(paymentReference: string, route: ChargeRoute): Promise<KnownReversal | undefined> {
    // Without MATERIALIZED the statement could read all reversals in the order of their requests.
    const [row] = await this.dataSource.query<KnownReversal[]>(
      `WITH found AS MATERIALIZED (
         SELECT r.attempt_id, r.requested_at
           FROM payments p JOIN payables y ON y.payable_id = p.payable_id JOIN attempts a ON a.payment_id = p.payment_id
           JOIN reversals r ON r.attempt_id = a.attempt_id
          WHERE p.payment_reference = $1 AND a.acquirer = $2 AND a.account = $3 AND y.mode = $4
       )
       SELECT attempt_id AS "attemptId" FROM found ORDER BY requested_at DESC LIMIT 1`,
      [paymentReference, route.acquirer, route.account.accountReference, route.account.mode],
    );
    return row;
  }

  /**
   * Records that the acquirer has found no charge to reverse. False when the reversal was already confirmed, and after an
   * approval: the acquirer then sent this before it received the charge.
   */
  async confirmNotFound(attemptId: string): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE reversals SET confirmed_at = $2, next_request_at = NULL, found_charge = false
        WHERE attempt_id = $1 AND confirmed_at IS NULL AND NOT approval_seen`,
      [attemptId, this.clock.now()],
    );
    return count > 0;
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
         UPDATE reversals SET confirmed_at = $now, next_request_at = NULL, found_charge = true
          WHERE attempt_id = $attemptId AND found_charge IS NOT TRUE
         RETURNING attempt_id
       ), attempt AS (
         UPDATE attempts a SET state = 'reversed' FROM target WHERE a.attempt_id = target.attempt_id
       ), transfer AS (
         ${insertTransfersSql('$transfers::jsonb', 'target')}
       )`,
  changed: 'target',
  aggregateId: 'attempt_id',
});

interface DueRow extends Omit<DueReversal, 'account'> {
  readonly mode: Mode;
  readonly account: string;
}

import { Inject, Injectable } from '@nestjs/common';
import {
  type ErrorCode,
  type FeeTerms,
  PaymentFailedV1,
  PaymentProcessingV1,
  type PaymentSnapshot,
} from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { insertAttempts } from '../payments/accept-payment.query.js';
import { newAttempt, type OpenAttempt, rowFromAttempt } from '../payments/attempt.repository.js';
import { paymentWithFailedVerification, resumedPayment } from '../payments/payment.js';
import { feeTermsFromRow, PAYMENT_COLUMNS, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';

/** A payment that waits for its payer to return from the bank's page. */
export interface OpenVerification {
  readonly paymentId: string;
  readonly paymentVersion: number;
  readonly challengeReference: string;
  /** The acquirer and account that required the verification. The charge uses the same route. */
  readonly route: ChargeRoute;
  readonly expiresAt: Date;
  readonly maxPayments: number;
  /** See {@link OpenAttempt.feeTerms}. */
  readonly feeTerms: FeeTerms;
  readonly payment: PaymentSnapshot;
}

/**
 * The transitions from the state `verificationRequired`. Each transition is one statement. The statement changes
 * nothing if the payment has left this state, or if the payable has changed since it was read.
 */
@Injectable()
export class VerificationRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Leases the open verifications of a payable. Omits verifications that were queried for a polling client after
   * `maxLastQueryAt`.
   */
  async leaseOpen(payableId: string, maxLastQueryAt: Date): Promise<OpenVerification[]> {
    const [rows] = await this.dataSource.query<[VerificationRow[], number]>(
      `UPDATE verifications v SET queried_at = $2
         FROM payments p, payables y
        WHERE p.payable_id = $1 AND p.state = 'verificationRequired' AND v.payment_id = p.payment_id AND v.open
          AND (v.queried_at IS NULL OR v.queried_at <= $3) AND y.payable_id = p.payable_id
        RETURNING ${VERIFICATION_COLUMNS}`,
      [payableId, this.clock.now(), maxLastQueryAt],
    );
    return rows.map(openVerificationFromRow);
  }

  /**
   * Leases open verifications of partners' payments that are due for a query by the cleanup job, until `leaseUntil`.
   * The job is needed because possibly no client polls these payments, and because the payers return to pages of the
   * partner. This lease is independent of {@link leaseOpen}.
   */
  async leaseDueOfPartners(leaseUntil: Date, limit: number): Promise<OpenVerification[]> {
    const [rows] = await this.dataSource.query<[VerificationRow[], number]>(
      `UPDATE verifications v SET next_query_at = $2
         FROM (SELECT w.payment_id FROM verifications w JOIN payments q ON q.payment_id = w.payment_id
                WHERE w.open AND (w.next_query_at IS NULL OR w.next_query_at <= $1) AND q.partner IS NOT NULL
                ORDER BY w.next_query_at NULLS FIRST LIMIT $3 FOR UPDATE OF w SKIP LOCKED) due,
              payments p, payables y
        WHERE v.payment_id = due.payment_id AND p.payment_id = due.payment_id AND p.state = 'verificationRequired'
          AND y.payable_id = p.payable_id
        RETURNING ${VERIFICATION_COLUMNS}`,
      [this.clock.now(), leaseUntil, limit],
    );
    return rows.map(openVerificationFromRow);
  }

  /**
   * Finds expired verifications whose payable is not reserved by another payment. If two callers find the same
   * verification, it ends only once.
   */
  async findExpired(limit: number): Promise<OpenVerification[]> {
    const rows = await this.dataSource.query<VerificationRow[]>(
      `SELECT ${VERIFICATION_COLUMNS}
         FROM verifications v JOIN payments p ON p.payment_id = v.payment_id JOIN payables y ON y.payable_id = p.payable_id
        WHERE v.open AND v.expires_at <= $1 AND y.state <> 'reserved' ORDER BY v.expires_at LIMIT $2`,
      [this.clock.now(), limit],
    );
    return rows.map(openVerificationFromRow);
  }

  /**
   * Reserves the payable, and commits the attempt for the verified charge. Undefined when another process was faster.
   */
  async resume(verification: OpenVerification): Promise<OpenAttempt | undefined> {
    const { paymentId, paymentVersion, maxPayments, feeTerms, route } = verification;
    const startedAt = this.clock.now();
    const payment = resumedPayment(verification.payment, startedAt);
    const attempt = newAttempt(route, startedAt, this.clock);
    const event = this.events.newEnvelope({
      type: PaymentProcessingV1,
      aggregateId: paymentId,
      aggregateVersion: paymentVersion + 1,
      payload: payment,
    });
    const parameters = {
      paymentId,
      paymentVersion,
      knownVersion: verification.payment.payable.version,
      newVersion: payment.payable.version,
      startedAt,
      attempt: JSON.stringify(rowFromAttempt(paymentId, attempt)),
    };
    const [row] = await this.events.write(this.dataSource, RESUME, parameters, [event]);
    if (!row) return undefined;
    return { ...attempt, paymentId, paymentVersion: paymentVersion + 1, maxPayments, feeTerms, payment };
  }

  /** Fails the payment; nothing was charged. Undefined when another process was faster. */
  async fail(verification: OpenVerification, error: ErrorCode): Promise<PaymentSnapshot | undefined> {
    const { paymentId, paymentVersion, maxPayments, payment } = verification;
    const now = this.clock.now();
    const failed = paymentWithFailedVerification(payment, error, maxPayments, now);
    const event = this.events.newEnvelope({
      type: PaymentFailedV1,
      aggregateId: paymentId,
      aggregateVersion: paymentVersion + 1,
      payload: failed,
    });
    const parameters = {
      paymentId,
      paymentVersion,
      knownVersion: payment.payable.version,
      newVersion: failed.payable.version,
      errors: JSON.stringify(failed.errors),
      payableState: failed.payable.state,
      now,
    };
    const [row] = await this.events.write(this.dataSource, FAIL, parameters, [event]);
    if (!row) return undefined;
    return failed;
  }
}

const RESUME = statementWithEvents({
  writes: `target AS (
         SELECT p.payment_id, p.payable_id
           FROM payments p JOIN payables y ON y.payable_id = p.payable_id
          WHERE p.payment_id = $paymentId AND p.state = 'verificationRequired' AND p.version = $paymentVersion
            AND y.state = 'open' AND y.version = $knownVersion
            FOR UPDATE OF p, y
       ), payment AS (
         UPDATE payments p SET state = 'processing', modified_at = $startedAt, version = p.version + 1
           FROM target WHERE p.payment_id = target.payment_id
       ), payable AS (
         UPDATE payables y SET state = 'reserved', holder = target.payment_id, version = $newVersion, modified_at = $startedAt
           FROM target WHERE y.payable_id = target.payable_id
       ), verification AS (
         UPDATE verifications v SET open = false FROM target WHERE v.payment_id = target.payment_id
       ), attempt AS (
         ${insertAttempts('target', '$attempt::jsonb')}
       )`,
  changed: 'target',
  aggregateId: 'payment_id',
});

const FAIL = statementWithEvents({
  writes: `target AS (
         SELECT p.payment_id, p.payable_id
           FROM payments p JOIN payables y ON y.payable_id = p.payable_id
          WHERE p.payment_id = $paymentId AND p.state = 'verificationRequired' AND p.version = $paymentVersion
            AND y.version = $knownVersion
            FOR UPDATE OF p, y
       ), payment AS (
         UPDATE payments p SET state = 'failed', errors = $errors, modified_at = $now, version = p.version + 1
           FROM target WHERE p.payment_id = target.payment_id
       ), payable AS (
         UPDATE payables y SET state = $payableState, version = $newVersion, modified_at = $now
           FROM target WHERE y.payable_id = target.payable_id
       ), verification AS (
         UPDATE verifications v SET open = false FROM target WHERE v.payment_id = target.payment_id
       )`,
  changed: 'target',
  aggregateId: 'payment_id',
});

const VERIFICATION_COLUMNS = `v.challenge_reference, v.acquirer, v.account, v.expires_at, ${PAYMENT_COLUMNS}`;

interface VerificationRow extends PaymentRow {
  challenge_reference: string;
  acquirer: string;
  account: string;
  expires_at: Date;
}

function openVerificationFromRow(row: VerificationRow): OpenVerification {
  return {
    paymentId: row.paymentId,
    paymentVersion: row.version,
    challengeReference: row.challenge_reference,
    route: { acquirer: row.acquirer, account: { mode: row.mode, accountReference: row.account } },
    expiresAt: row.expires_at,
    maxPayments: row.maxPayments,
    feeTerms: feeTermsFromRow(row),
    payment: snapshotFromRow(row),
  };
}

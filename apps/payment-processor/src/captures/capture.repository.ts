import { Inject, Injectable } from '@nestjs/common';
import { type FeeTerms, type Mode, PaymentReversedV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { failedCaptureTransfers } from '../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../ledger/transfer.repository.js';
import {
  feeTermsFromRow,
  PAYMENT_COLUMNS,
  PAYMENT_TABLES,
  type PaymentRow,
  snapshotFromRow,
} from '../payments/payment-columns.js';
import type { CaptureFailure, CaptureState } from './capture.js';

/** A capture, with the charge that it captures. */
export interface Capture extends ChargeRoute {
  readonly attemptId: string;
  readonly paymentId: string;
  readonly state: CaptureState;
  /** Undefined unless the capture has failed. */
  readonly failure: CaptureFailure | undefined;
  /** The acquirer's reference of the charge. */
  readonly chargeReference: string;
  /**
   * The acquirer's reference of the capture; undefined while no response and no report has named it, and after the
   * acquirer has refused it.
   */
  readonly captureReference: string | undefined;
  /** Cents. */
  readonly amount: number;
  readonly createdAt: Date;
  /** Number of requests to capture. */
  readonly requests: number;
  /** Number of the idempotency key of the next request, from 1. */
  readonly keyNumber: number;
  readonly feeTerms: FeeTerms;
  readonly payment: PaymentSnapshot;
}

/** The reservation of a failed capture, which is released at the acquirer. */
export interface DueRelease extends ChargeRoute {
  readonly attemptId: string;
  readonly paymentReference: string;
  /** When the capture failed. */
  readonly failedAt: Date;
}

/** The longest time between two requests for the same release. */
const MAX_RELEASE_DELAY = '1 hour';

/**
 * SQL: whether the capture `d` is of the acquirer `$4`. A join could be planned, while the tables are empty, so that it
 * reads all attempts before the captures that are due.
 */
const IS_OF_ACQUIRER = `(SELECT b.acquirer FROM attempts b WHERE b.attempt_id = d.attempt_id) = $4`;

/** Captures of approved charges. A capture is inserted by the statement that commits the success of its payment. */
@Injectable()
export class CaptureRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Leases due captures of this acquirer, each to one caller, and counts a request of those that the acquirer has not
   * received. Another caller can continue at `leaseUntil` if this caller crashes.
   */
  async leaseDue(acquirer: string, leaseUntil: Date, limit: number): Promise<Capture[]> {
    const [rows] = await this.dataSource.query<[CaptureRow[], number]>(
      `UPDATE captures c SET requests = c.requests + (c.state = 'due')::int, next_request_at = $2
         FROM (SELECT d.attempt_id FROM captures d WHERE d.next_request_at <= $1 AND ${IS_OF_ACQUIRER}
                ORDER BY d.next_request_at LIMIT $3 FOR UPDATE SKIP LOCKED) due,
              attempts a, ${PAYMENT_TABLES}
        WHERE c.attempt_id = due.attempt_id AND a.attempt_id = c.attempt_id AND p.payment_id = c.payment_id
        RETURNING ${CAPTURE_COLUMNS}`,
      [this.clock.now(), leaseUntil, limit, acquirer],
    );
    return rows.map(captureFromRow);
  }

  async findByPayment(paymentReference: string, { acquirer, account }: ChargeRoute): Promise<Capture | undefined> {
    const [row] = await this.dataSource.query<CaptureRow[]>(
      `SELECT ${CAPTURE_COLUMNS}
         FROM ${PAYMENT_TABLES} JOIN captures c ON c.payment_id = p.payment_id JOIN attempts a ON a.attempt_id = c.attempt_id
        WHERE p.payment_reference = $1 AND a.acquirer = $2 AND a.account = $3 AND y.mode = $4`,
      [paymentReference, acquirer, account.accountReference, account.mode],
    );
    return row && captureFromRow(row);
  }

  /** Records that the acquirer has received the request. Changes nothing when the capture has an outcome. */
  async markRequested(attemptId: string, acquirerReference: string, nextRequest: Date): Promise<void> {
    await this.dataSource.query(
      `UPDATE captures SET state = 'requested', acquirer_reference = coalesce(acquirer_reference, $2), next_request_at = $3
        WHERE attempt_id = $1 AND state IN ('due', 'requested')`,
      [attemptId, acquirerReference, nextRequest],
    );
  }

  /**
   * Sets the time of the next request, or of the next look at a request whose outcome the acquirer has not reported.
   * Changes nothing when the capture has an outcome.
   *
   * @param answeredKey the number of a key whose requests all get the response of this request. The next request has the
   * next number
   */
  async postpone(attemptId: string, nextRequest: Date, answeredKey?: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE captures SET next_request_at = $2, key_number = CASE WHEN key_number = $3::int THEN key_number + 1 ELSE key_number END
        WHERE attempt_id = $1 AND state IN ('due', 'requested')`,
      [attemptId, nextRequest, answeredKey ?? null],
    );
  }

  /**
   * Records that the acquirer has refused a request that it had received, so that it is requested again. False when the
   * capture has an outcome, or another request has followed.
   */
  async requestAgain(
    { attemptId, keyNumber }: Pick<Capture, 'attemptId' | 'keyNumber'>,
    nextRequest: Date,
  ): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE captures SET state = 'due', acquirer_reference = NULL, key_number = key_number + 1, next_request_at = $3
        WHERE attempt_id = $1 AND state IN ('due', 'requested') AND key_number = $2`,
      [attemptId, keyNumber, nextRequest],
    );
    return count > 0;
  }

  /** Records that the money was taken. False when the capture already has an outcome. */
  async markCaptured(attemptId: string, acquirerReference: string): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE captures SET state = 'captured', acquirer_reference = $3, ended_at = $2, captured_at = $2, next_request_at = NULL
        WHERE attempt_id = $1 AND state IN ('due', 'requested')`,
      [attemptId, this.clock.now(), acquirerReference],
    );
    return count > 0;
  }

  /**
   * Records that the money cannot be taken, books the payment back and publishes the reversal, only once. The payment
   * does not change (P1). A rejected capture leaves its reservation open, so its release is due. False when the failure
   * was already recorded, and for a rejection when the money was taken.
   *
   * @param reportedReference the acquirer's reference of the capture in the report of the failure
   */
  async fail(
    { attemptId, paymentId, acquirer, feeTerms, payment }: Capture,
    failure: CaptureFailure,
    reportedReference?: string,
  ): Promise<boolean> {
    const now = this.clock.now();
    const reversed = { ...payment, reversedUTCDate: now.toISOString(), captureFailed: true };
    const event = { type: PaymentReversedV1, aggregateId: attemptId, aggregateVersion: 1, payload: reversed };
    const transfers = failedCaptureTransfers(payment, { acquirer, feeTerms });
    const rows = transferRows(transfers, payment, { paymentId, attemptId, createdAt: now }, this.clock);
    const reference = reportedReference ?? null;
    const parameters = { attemptId, now, failure, reference, transfers: JSON.stringify(rows) };
    const [row] = await this.events.write(this.dataSource, FAIL, parameters, [this.events.newEnvelope(event)]);
    return row !== undefined;
  }

  /**
   * Leases due releases of this acquirer, each to one caller until `leaseUntil`. The delay until the next request grows
   * with the age, because an acquirer may need hours to report a release.
   */
  async leaseReleases(acquirer: string, leaseUntil: Date, limit: number): Promise<DueRelease[]> {
    const [rows] = await this.dataSource.query<[ReleaseRow[], number]>(
      `UPDATE captures c SET next_release_at = greatest($2::timestamptz, $1 + least(($1 - c.ended_at) / 4, '${MAX_RELEASE_DELAY}'))
         FROM (SELECT d.attempt_id FROM captures d WHERE d.next_release_at <= $1 AND ${IS_OF_ACQUIRER}
                ORDER BY d.next_release_at LIMIT $3 FOR UPDATE SKIP LOCKED) due,
              attempts a, payments p JOIN payables y ON y.payable_id = p.payable_id
        WHERE c.attempt_id = due.attempt_id AND a.attempt_id = c.attempt_id AND p.payment_id = c.payment_id
        RETURNING c.attempt_id AS "attemptId", c.ended_at AS "failedAt", y.mode, a.acquirer, a.account, p.payment_reference AS "paymentReference"`,
      [this.clock.now(), leaseUntil, limit, acquirer],
    );
    return rows.map(({ mode, account, ...row }) => ({ ...row, account: { mode, accountReference: account } }));
  }

  /**
   * Ends the requests for a release. False when they have ended already.
   *
   * @param isReleased whether the acquirer has confirmed that it reserves nothing
   */
  async endRelease(attemptId: string, { isReleased }: { readonly isReleased: boolean }): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE captures SET next_release_at = NULL, released_at = CASE WHEN $3::boolean THEN $2::timestamptz END
        WHERE attempt_id = $1 AND next_release_at IS NOT NULL`,
      [attemptId, this.clock.now(), isReleased],
    );
    return count > 0;
  }
}

const FAIL = statementWithEvents({
  writes: `target AS (
         UPDATE captures SET state = 'failed', failure = $failure::text, acquirer_reference = coalesce($reference::text, acquirer_reference), ended_at = $now, next_request_at = NULL,
                             next_release_at = CASE WHEN $failure::text = 'rejected' THEN $now::timestamptz END
          WHERE attempt_id = $attemptId AND state <> 'failed' AND ($failure::text = 'cardScheme' OR state <> 'captured')
         RETURNING attempt_id
       ), incident AS (
         INSERT INTO incidents (attempt_id, attempt_state, response, first_seen_at, last_seen_at, occurrences)
         SELECT attempt_id, 'approved', 'captureFailed', $now, $now, 1 FROM target
       ), transfer AS (
         ${insertTransfersSql('$transfers::jsonb', 'target')}
       )`,
  changed: 'target',
  aggregateId: 'attempt_id',
});

const CAPTURE_COLUMNS = `c.attempt_id AS "attemptId", c.state AS "captureState", c.amount AS "captureAmount", c.created_at AS "createdAt",
  c.acquirer_reference AS "captureReference", c.requests, c.key_number AS "keyNumber", c.failure, a.acquirer, a.account, a.acquirer_reference AS "chargeReference", ${PAYMENT_COLUMNS}`;

interface CaptureRow extends PaymentRow {
  readonly attemptId: string;
  readonly captureState: CaptureState;
  readonly captureAmount: number;
  readonly createdAt: Date;
  readonly requests: number;
  readonly keyNumber: number;
  readonly failure: CaptureFailure | null;
  readonly acquirer: string;
  readonly account: string;
  readonly chargeReference: string;
  readonly captureReference: string | null;
}

interface ReleaseRow extends Omit<DueRelease, 'account'> {
  readonly mode: Mode;
  readonly account: string;
}

function captureFromRow(row: CaptureRow): Capture {
  return {
    attemptId: row.attemptId,
    paymentId: row.paymentId,
    state: row.captureState,
    failure: row.failure ?? undefined,
    chargeReference: row.chargeReference,
    captureReference: row.captureReference ?? undefined,
    amount: row.captureAmount,
    createdAt: row.createdAt,
    requests: row.requests,
    keyNumber: row.keyNumber,
    acquirer: row.acquirer,
    account: { mode: row.mode, accountReference: row.account },
    feeTerms: feeTermsFromRow(row),
    payment: snapshotFromRow(row),
  };
}

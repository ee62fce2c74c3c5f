import { Inject, Injectable } from '@nestjs/common';
import type { FeeTerms, PaymentSnapshot } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { currentTraceId } from '@svc/messaging';
import { type ColumnMap, namedStatement, toRecord, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { lateApprovalTransfer } from '../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../ledger/transfer.repository.js';
import type { PaymentChecks } from '../velocity/velocity-checks.js';
import { type AcquirerResponse, type AttemptState, CHARGEABLE_STATES, nextQueryAt } from './attempt.js';
import {
  feeTermsFromRow,
  PAYMENT_COLUMNS,
  PAYMENT_TABLES,
  type PaymentRow,
  snapshotFromRow,
} from './payment-columns.js';

/** An attempt without an outcome. */
interface Attempt extends ChargeRoute {
  /** Also the idempotency key at the acquirer. */
  readonly attemptId: string;
  /** The state that was read. The row may have changed since then. */
  readonly state: AttemptState;
  /** Start of the call to the acquirer: the time of the acceptance, or of a later lease of the call. */
  readonly startedAt: Date;
  /** Number of queries to the acquirer about this attempt. */
  readonly queries: number;
  /** Counters of the payment (P11), except that of its site; undefined if its merchant has no limits. */
  readonly velocityKeys: readonly string[] | undefined;
}

/** A payment with the attempt that decides the outcome of the payment. */
export interface OpenAttempt extends Attempt {
  readonly paymentId: string;
  /** Version of the payment, which increases by one with each change. */
  readonly paymentVersion: number;
  readonly maxPayments: number;
  /** The site was under attack when the payment was accepted, so the payer must be verified. */
  readonly forcesVerification?: boolean;
  /** The payer has confirmed the payment with the bank. */
  readonly isVerified?: boolean;
  /** Fee terms at the acceptance of the payment, so that a recovery days later books the same fee. */
  readonly feeTerms: FeeTerms;
  readonly payment: PaymentSnapshot;
}

/** The columns of the table `attempts` that an attempt has from its start. */
export const ATTEMPT_MAP = {
  attemptId: ['attempt_id', 'uuid'],
  paymentId: ['payment_id', 'uuid'],
  acquirer: ['acquirer', 'text'],
  account: ['account', 'text'],
  traceId: ['trace_id', 'text'],
  state: ['state', 'text'],
  startedAt: ['started_at', 'timestamptz'],
  queries: ['queries', 'int'],
  nextQueryAt: ['next_query_at', 'timestamptz'],
  velocityKeys: ['velocity_keys', 'text[]'],
} as const satisfies ColumnMap;

/** The attempt of a payment that is accepted, or resumed after its verification. */
export function newAttempt(
  route: ChargeRoute,
  startedAt: Date,
  clock: Clock,
  checks?: Pick<PaymentChecks, 'keys'>,
): Attempt {
  return { attemptId: newUuid(clock), ...route, state: 'started', startedAt, queries: 0, velocityKeys: checks?.keys };
}

export function rowFromAttempt(paymentId: string, attempt: Attempt): Record<string, unknown> {
  return toRecord(ATTEMPT_MAP, {
    ...attempt,
    paymentId,
    account: attempt.account.accountReference,
    traceId: currentTraceId(),
    nextQueryAt: nextQueryAt(attempt.startedAt, attempt.queries, attempt.startedAt),
  });
}

const MAX_COUNTED = 10_000;

/** Leases and incidents of attempts. Acceptance and settlement are in payment.repository.ts. */
@Injectable()
export class AttemptRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Leases an attempt whose call starts late, and restarts its age. False when the attempt is no longer chargeable. */
  async leaseForCall({ attemptId }: OpenAttempt): Promise<boolean> {
    const now = this.clock.now();
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE attempts SET started_at = $2, next_query_at = $3 WHERE attempt_id = $1 AND state = ANY ($4)`,
      [attemptId, now, nextQueryAt(now, 0, now), CHARGEABLE_STATES],
    );
    return count > 0;
  }

  /** The number of attempts without an outcome that began before this time, at most {@link MAX_COUNTED}. */
  async countUnresolved(startedBefore: Date): Promise<number> {
    const [row] = await this.dataSource.query<[{ count: number }]>(
      `SELECT count(*) AS count
         FROM (SELECT 1 FROM attempts WHERE next_query_at IS NOT NULL AND started_at < $1 LIMIT ${MAX_COUNTED}) AS unresolved`,
      [startedBefore],
    );
    return row.count;
  }

  /**
   * Records an unknown outcome, with the next query at `nextQuery` (P1). Changes nothing when the attempt is not
   * chargeable.
   */
  async markUnknown(attemptId: string, nextQuery: Date): Promise<void> {
    await this.dataSource.query(
      `UPDATE attempts SET state = 'unknown', next_query_at = $2 WHERE attempt_id = $1 AND state = ANY ($3)`,
      [attemptId, nextQuery, CHARGEABLE_STATES],
    );
  }

  /**
   * Commits the decision to reverse. Only then may the caller request the reversal from the acquirer. False when the
   * attempt has an outcome, when it is already reversing, or when its call was leased after the attempt was read.
   */
  async beginReversal(
    tx: Transaction | undefined,
    { attemptId, startedAt }: OpenAttempt,
    next: Date,
  ): Promise<boolean> {
    const [, count] = await (tx ?? this.dataSource).query<[unknown[], number]>(
      `UPDATE attempts SET state = 'reversing', next_query_at = $2
        WHERE attempt_id = $1 AND state = ANY ($3) AND started_at = $4`,
      [attemptId, next, CHARGEABLE_STATES, startedAt],
    );
    return count > 0;
  }

  /**
   * Leases due attempts of this acquirer, each to one caller. `leaseUntil` becomes the next due time, so that another caller can
   * continue if this caller crashes.
   */
  async leaseDue(acquirer: string, leaseUntil: Date, limit: number): Promise<OpenAttempt[]> {
    const [rows] = await this.dataSource.query<[AttemptRow[], number]>(
      `UPDATE attempts a SET queries = a.queries + 1, next_query_at = $2
         FROM (SELECT attempt_id FROM attempts WHERE acquirer = $4 AND next_query_at <= $1
                ORDER BY next_query_at LIMIT $3 FOR UPDATE SKIP LOCKED) due,
              payments p LEFT JOIN verifications v ON v.payment_id = p.payment_id, payables y
        WHERE a.attempt_id = due.attempt_id AND p.payment_id = a.payment_id AND y.payable_id = p.payable_id
        RETURNING ${ATTEMPT_COLUMNS}`,
      [this.clock.now(), leaseUntil, limit, acquirer],
    );
    return rows.map(openAttemptFromRow);
  }

  /**
   * Leases the unknown and reversing attempts of a payable that a client polls. Omits attempts that were queried for a
   * polling client after `maxLastQueryAt`.
   */
  async leaseUnresolved(payableId: string, maxLastQueryAt: Date): Promise<OpenAttempt[]> {
    const [rows] = await this.dataSource.query<[AttemptRow[], number]>(
      `UPDATE attempts a SET queried_at = $2
         FROM payments p LEFT JOIN verifications v ON v.payment_id = p.payment_id, payables y
        WHERE p.payable_id = $1 AND p.state = 'processing' AND a.payment_id = p.payment_id AND a.state IN ('unknown', 'reversing')
          AND (a.queried_at IS NULL OR a.queried_at <= $3) AND y.payable_id = p.payable_id
        RETURNING ${ATTEMPT_COLUMNS}`,
      [payableId, this.clock.now(), maxLastQueryAt],
    );
    return rows.map(openAttemptFromRow);
  }

  /**
   * Finds the attempt that an acquirer reports by the payment's reference: the open or approved one, or else the newest,
   * because a payment is one charge at the acquirer, with or without a verification. Undefined for an attempt of another acquirer, mode or account.
   */
  async findByPayment(paymentReference: string, { acquirer, account }: ChargeRoute): Promise<OpenAttempt | undefined> {
    const [row] = await this.dataSource.query<AttemptRow[]>(
      `SELECT ${ATTEMPT_COLUMNS} FROM ${PAYMENT_TABLES} JOIN attempts a ON a.payment_id = p.payment_id
        WHERE p.payment_reference = $1 AND a.acquirer = $2 AND a.account = $3 AND y.mode = $4
        ORDER BY a.state IN ('started', 'unknown', 'reversing', 'approved') DESC, a.started_at DESC LIMIT 1`,
      [paymentReference, acquirer, account.accountReference, account.mode],
    );
    return row && openAttemptFromRow(row);
  }

  /** Locks the attempt until the transaction ends, and returns its state and the acquirer's reference of its charge. */
  async lock(
    tx: Transaction,
    attemptId: string,
  ): Promise<{ readonly state: AttemptState; readonly acquirerReference: string | null } | undefined> {
    const [row] = await tx.query<{ state: AttemptState; acquirerReference: string | null }[]>(
      `SELECT state, acquirer_reference AS "acquirerReference" FROM attempts WHERE attempt_id = $1 FOR UPDATE`,
      [attemptId],
    );
    return row;
  }

  /**
   * Records a response that contradicts the state of the attempt. One row for each state and response counts the
   * occurrences.
   */
  async recordIncident(
    tx: Transaction | undefined,
    { attemptId }: Pick<OpenAttempt, 'attemptId'>,
    state: AttemptState,
    response: AcquirerResponse | { readonly kind: 'captureRejected' | 'captureUnconfirmed' },
  ): Promise<void> {
    const now = this.clock.now();
    await (tx ?? this.dataSource).query(
      `INSERT INTO incidents AS i (attempt_id, attempt_state, response, acquirer_reference, first_seen_at, last_seen_at, occurrences)
       VALUES ($1, $2, $3, $4, $5, $5, 1)
       ON CONFLICT (attempt_id, attempt_state, response) DO UPDATE SET last_seen_at = $5, occurrences = i.occurrences + 1`,
      [attemptId, state, response.kind, 'acquirerReference' in response ? response.acquirerReference : null, now],
    );
  }

  /**
   * Commits the decision to reverse a late approval. Books the money that the acquirer holds until the reversal; an
   * approval that is captured separately holds no money. Has an effect only once for each attempt, unless the reversal of an
   * abandoned charge was requested before the approval was known: then it is requested again, and its age begins again.
   */
  async requestReversal(
    tx: Transaction,
    { attemptId, paymentId, acquirer, payment }: OpenAttempt,
    { holdsMoney }: { readonly holdsMoney: boolean },
  ): Promise<void> {
    const now = this.clock.now();
    const transfers = holdsMoney ? [lateApprovalTransfer(payment, acquirer)] : [];
    const rows = transferRows(transfers, payment, { paymentId, attemptId, createdAt: now }, this.clock);
    const values = REQUEST_REVERSAL.valuesOf({ attemptId, now, holdsMoney, transfers: JSON.stringify(rows) });
    await tx.query(REQUEST_REVERSAL.text, values);
  }
}

const REQUEST_REVERSAL = namedStatement(`WITH requested AS (
         INSERT INTO reversals (attempt_id, requested_at, next_request_at, holds_money, approval_seen)
         VALUES ($attemptId, $now, $now, $holdsMoney, true)
         ON CONFLICT (attempt_id) DO UPDATE SET approval_seen = true, requested_at = $now, next_request_at = $now, confirmed_at = NULL, found_charge = NULL
          WHERE NOT reversals.approval_seen AND reversals.found_charge IS NOT TRUE
         RETURNING attempt_id
       )
       ${insertTransfersSql('$transfers::jsonb', 'requested')}`);

const ATTEMPT_COLUMNS = `a.attempt_id AS "attemptId", a.acquirer, a.account, a.state AS "attemptState", a.started_at AS "startedAt",
  a.queries, a.velocity_keys AS "velocityKeys", v.challenge_reference IS NOT NULL AS "isVerified", ${PAYMENT_COLUMNS}`;

interface AttemptRow extends PaymentRow {
  readonly attemptId: string;
  readonly acquirer: string;
  readonly account: string;
  readonly attemptState: AttemptState;
  readonly startedAt: Date;
  readonly queries: number;
  readonly velocityKeys: string[] | null;
  readonly isVerified: boolean;
}

function openAttemptFromRow(row: AttemptRow): OpenAttempt {
  return {
    paymentId: row.paymentId,
    paymentVersion: row.version,
    attemptId: row.attemptId,
    acquirer: row.acquirer,
    account: { mode: row.mode, accountReference: row.account },
    state: row.attemptState,
    startedAt: row.startedAt,
    queries: row.queries,
    velocityKeys: row.velocityKeys ?? undefined,
    isVerified: row.isVerified,
    maxPayments: row.maxPayments,
    feeTerms: feeTermsFromRow(row),
    payment: snapshotFromRow(row),
  };
}

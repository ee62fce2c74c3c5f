import { Inject, Injectable } from '@nestjs/common';
import type { AnyPaymentSnapshot, FeeTerms } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { namedStatement, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { MerchantAccount } from '../acquirers/acquirer.js';
import { lateApprovalTransfer } from '../ledger/transfer.js';
import { type AcquirerAnswer, type AttemptState, CHARGEABLE_STATES, nextAskAt } from './attempt.js';
import { asSnapshot, feeTermsOf, PAYMENT_COLUMNS, type PaymentRow } from './payment-snapshot.js';

/** The acquirer and the merchant's account there. Both are recorded with the attempt: every later call about it uses them. */
export interface ChargeRoute {
  /** Name of the acquirer. */
  readonly acquirer: string;
  readonly account: MerchantAccount;
}

/** A payment with the attempt that is to decide it. */
export interface OpenAttempt extends ChargeRoute {
  readonly paymentId: string;
  /** Of the payment; one more with each change. */
  readonly paymentVersion: number;
  /** Also the idempotency key at the acquirer. */
  readonly attemptId: string;
  /** As it was read; the row may have moved on. */
  readonly state: AttemptState;
  /** When the call begins: the acceptance, or a later claim of the call. */
  readonly startedAt: Date;
  /** Times the acquirer has been asked about it. */
  readonly asked: number;
  readonly triesMax: number;
  /** As they were when the payment was accepted, so that a recovery days later books the same fee. */
  readonly feeTerms: FeeTerms;
  readonly payment: AnyPaymentSnapshot;
}

/** Attempts outside acceptance and settlement: who may call the acquirer about them, and what it said that cannot be. */
@Injectable()
export class AttemptRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Claims a call that begins late: its age counts from now. False when the attempt is not chargeable any more. */
  async claimForCall({ attemptId }: OpenAttempt): Promise<boolean> {
    const now = this.clock.now();
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE attempts SET started_at = $2, next_ask_at = $3 WHERE attempt_id = $1 AND state = ANY ($4)`,
      [attemptId, now, nextAskAt(now, 0, now), CHARGEABLE_STATES],
    );
    return count > 0;
  }

  /** The acquirer did not say what happened: asked again at `nextAsk` (P1). Changes nothing when the attempt is not chargeable. */
  async markUnknown(attemptId: string, nextAsk: Date): Promise<void> {
    await this.dataSource.query(
      `UPDATE attempts SET state = 'unknown', next_ask_at = $2 WHERE attempt_id = $1 AND state = ANY ($3)`,
      [attemptId, nextAsk, CHARGEABLE_STATES],
    );
  }

  /**
   * Commits the decision to reverse; only then the acquirer may be called. False when the attempt has an outcome, is
   * already reversing, or its call was claimed after it was read.
   */
  async beginReversal(
    tx: Transaction | undefined,
    { attemptId, startedAt }: OpenAttempt,
    next: Date,
  ): Promise<boolean> {
    const [, count] = await (tx ?? this.dataSource).query<[unknown[], number]>(
      `UPDATE attempts SET state = 'reversing', next_ask_at = $2
        WHERE attempt_id = $1 AND state = ANY ($3) AND started_at = $4`,
      [attemptId, next, CHARGEABLE_STATES, startedAt],
    );
    return count > 0;
  }

  /**
   * Attempts whose time to be looked after has come, each given to one caller: `leaseUntil` becomes its next time, so
   * that a caller that dies is replaced by the next one.
   */
  async claimDue(leaseUntil: Date, limit: number): Promise<OpenAttempt[]> {
    const [rows] = await this.dataSource.query<[AttemptRow[], number]>(
      `UPDATE attempts a SET asked = a.asked + 1, next_ask_at = $2
         FROM (SELECT attempt_id FROM attempts WHERE next_ask_at <= $1 ORDER BY next_ask_at LIMIT $3 FOR UPDATE SKIP LOCKED) due,
              payments p LEFT JOIN verifications v ON v.payment_id = p.payment_id, payables y
        WHERE a.attempt_id = due.attempt_id AND p.payment_id = a.payment_id AND y.payable_id = p.payable_id
        RETURNING ${ATTEMPT_COLUMNS}`,
      [this.clock.now(), leaseUntil, limit],
    );
    return rows.map(asOpenAttempt);
  }

  /** As {@link claimDue}, when a client looks at a payable: its unknown and reversing attempts, unless asked about since `notSince`. */
  async claimLookedAt(payableId: string, notSince: Date): Promise<OpenAttempt[]> {
    const [rows] = await this.dataSource.query<[AttemptRow[], number]>(
      `UPDATE attempts a SET asked_at = $2
         FROM payments p LEFT JOIN verifications v ON v.payment_id = p.payment_id, payables y
        WHERE p.payable_id = $1 AND p.state = 'processing' AND a.payment_id = p.payment_id AND a.state IN ('unknown', 'reversing')
          AND (a.asked_at IS NULL OR a.asked_at <= $3) AND y.payable_id = p.payable_id
        RETURNING ${ATTEMPT_COLUMNS}`,
      [payableId, this.clock.now(), notSince],
    );
    return rows.map(asOpenAttempt);
  }

  /** Its state, which stays until the transaction ends. */
  async lock(tx: Transaction, attemptId: string): Promise<AttemptState | undefined> {
    const [row] = await tx.query<{ state: AttemptState }[]>(
      `SELECT state FROM attempts WHERE attempt_id = $1 FOR UPDATE`,
      [attemptId],
    );
    return row?.state;
  }

  /** Once for each state and answer, however often it is said. */
  async recordIncident(
    tx: Transaction,
    { attemptId }: OpenAttempt,
    state: AttemptState,
    answer: AcquirerAnswer,
  ): Promise<void> {
    const now = this.clock.now();
    await tx.query(
      `INSERT INTO incidents AS i (attempt_id, attempt_state, answer, acquirer_reference, first_seen_at, last_seen_at, occurrences)
       VALUES ($1, $2, $3, $4, $5, $5, 1)
       ON CONFLICT (attempt_id, attempt_state, answer) DO UPDATE SET last_seen_at = $5, occurrences = i.occurrences + 1`,
      [attemptId, state, answer.kind, 'acquirerReference' in answer ? answer.acquirerReference : null, now],
    );
  }

  /** Commits the decision to give an approval back, and books the money that the acquirer holds meanwhile; once for each attempt. */
  async requestReversal(tx: Transaction, { attemptId, paymentId, acquirer, payment }: OpenAttempt): Promise<void> {
    const { debit, credit, amount } = lateApprovalTransfer(payment, acquirer);
    const values = REQUEST_REVERSAL.valuesOf({
      ...{ attemptId, paymentId, debit, credit, amount },
      now: this.clock.now(),
      transferId: newUuid(this.clock),
      currency: payment.currencyISOCode,
      mode: payment.mode,
      merchantId: payment.merchantId,
    });
    await tx.query(REQUEST_REVERSAL.text, values);
  }
}

const REQUEST_REVERSAL = namedStatement(`WITH requested AS (
         INSERT INTO reversals (attempt_id, requested_at, next_try_at, booked) VALUES ($attemptId, $now, $now, true)
         ON CONFLICT (attempt_id) DO NOTHING RETURNING attempt_id
       )
       INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, attempt_id, created_at)
       SELECT $transferId, 'lateApproval', $debit, $credit, $amount, $currency, $mode, $merchantId, $paymentId, attempt_id, $now
         FROM requested`);

const ATTEMPT_COLUMNS = `a.attempt_id, a.acquirer, a.account, a.state AS attempt_state, a.started_at, a.asked, ${PAYMENT_COLUMNS}`;

interface AttemptRow extends PaymentRow {
  attempt_id: string;
  acquirer: string;
  account: string;
  attempt_state: AttemptState;
  started_at: Date;
  asked: number;
}

function asOpenAttempt(row: AttemptRow): OpenAttempt {
  return {
    paymentId: row.payment_id,
    paymentVersion: row.payment_version,
    attemptId: row.attempt_id,
    acquirer: row.acquirer,
    account: { mode: row.mode, accountReference: row.account },
    state: row.attempt_state,
    startedAt: row.started_at,
    asked: row.asked,
    triesMax: row.tries_max,
    feeTerms: feeTermsOf(row),
    payment: asSnapshot(row),
  };
}

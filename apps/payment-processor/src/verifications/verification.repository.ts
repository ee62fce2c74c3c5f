import { Inject, Injectable } from '@nestjs/common';
import {
  type AttackLevel,
  type ErrorCode,
  type FeeTerms,
  PaymentFailedV1,
  PaymentProcessingV1,
  type PaymentSnapshot,
} from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { StoredCard, Verification } from '../acquirers/acquirer.js';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { insertAttempts } from '../payments/accept-payment.query.js';
import { newAttempt, type OpenAttempt, rowFromAttempt } from '../payments/attempt.repository.js';
import { paymentWithFailedVerification, progressReport, resumedPayment } from '../payments/payment.js';
import { feeTermsFromRow, PAYMENT_COLUMNS, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';
import { attackLevelOf, COUNTED_FIRST, countInFlight, isCounted } from '../velocity/counters/count-in-flight.query.js';
import {
  cardKeysOf,
  endInFlight,
  lockCounters,
  LOCKED_FIRST,
  type VelocityEnd,
} from '../velocity/counters/end-in-flight.query.js';
import type { PaymentChecks } from '../velocity/velocity-checks.js';
import type { FingerprintedCard } from '../velocity/velocity-guard.js';

/** A payment that waits for its payer to return from the bank's page. */
export interface OpenVerification {
  readonly paymentId: string;
  readonly paymentVersion: number;
  /** Undefined until the payer opens our page, which collects the data of the browser for the first charge. */
  readonly verification: Verification | undefined;
  /** The acquirer and account that required the verification. The charge uses the same route. */
  readonly route: ChargeRoute;
  readonly expiresAt: Date;
  /** Counters in which the payment is in flight (P11); undefined before its first charge, or if its merchant has no limits. */
  readonly velocityKeys: readonly string[] | undefined;
  readonly maxPayments: number;
  /** See {@link OpenAttempt.feeTerms}. */
  readonly feeTerms: FeeTerms;
  readonly payment: PaymentSnapshot;
}

/** A verification that begins on our page, as this page shows it. */
export interface PayerVerification extends OpenVerification {
  /** False after the payment has left the state `verificationRequired`. */
  readonly isOpen: boolean;
  /** Undefined when the card was deleted. */
  readonly card: (StoredCard & FingerprintedCard) | undefined;
  /** Organisation of the partner that made the payment. */
  readonly organisationId: string;
  /** Page of the partner on which the payer continues; undefined: a page of this service. */
  readonly payerReturnUrl: string | undefined;
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
   * Leases open verifications of partners' payments at this acquirer that are due for a query by the cleanup job, until
   * `leaseUntil`. The job is needed because possibly no client polls these payments, and because the payers return to pages of the
   * partner. This lease is independent of {@link leaseOpen}.
   */
  async leaseDueOfPartners(acquirer: string, leaseUntil: Date, limit: number): Promise<OpenVerification[]> {
    const [rows] = await this.dataSource.query<[VerificationRow[], number]>(
      `UPDATE verifications v SET next_query_at = $2
         FROM (SELECT w.payment_id FROM verifications w JOIN payments q ON q.payment_id = w.payment_id
                WHERE w.open AND w.acquirer = $4 AND (w.next_query_at IS NULL OR w.next_query_at <= $1) AND q.partner IS NOT NULL
                ORDER BY w.next_query_at NULLS FIRST LIMIT $3 FOR UPDATE OF w SKIP LOCKED) due,
              payments p, payables y
        WHERE v.payment_id = due.payment_id AND p.payment_id = due.payment_id AND p.state = 'verificationRequired'
          AND y.payable_id = p.payable_id
        RETURNING ${VERIFICATION_COLUMNS}`,
      [this.clock.now(), leaseUntil, limit, acquirer],
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
   * Finds the verification of a payment whose payer opens our page. The signature of the page's URL proves that the caller
   * may see it.
   */
  async findForPayer(paymentReference: string): Promise<PayerVerification | undefined> {
    const [row] = await this.dataSource.query<PayerVerificationRow[]>(
      `SELECT ${VERIFICATION_COLUMNS}, v.open, v.payer_return_url, c.vault_token, c.fingerprint, c.range_fingerprint, c.other_fingerprint
         FROM verifications v JOIN payments p ON p.payment_id = v.payment_id JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN cards c ON c.token = v.card_token AND (c.deleted_at IS NULL OR c.deleted_at > $2)
        WHERE p.payment_reference = $1 AND v.card_token IS NOT NULL`,
      [paymentReference, this.clock.now()],
    );
    return (
      row && {
        ...openVerificationFromRow(row),
        isOpen: row.open,
        card: cardFromRow(row),
        organisationId: row.partner?.partner?.organisationId ?? '',
        payerReturnUrl: row.payer_return_url ?? undefined,
      }
    );
  }

  /**
   * Reserves the payable, and commits the attempt for the verified charge. Undefined when another process was faster, or when
   * a limit refuses the attempt.
   *
   * @param checks of the first charge of the payment. The payment is still in flight in the counters of the first charge when
   *   a verified charge begins
   */
  async resume(verification: OpenVerification, checks?: PaymentChecks): Promise<OpenAttempt | undefined> {
    const { paymentId, paymentVersion, maxPayments, feeTerms, route } = verification;
    const startedAt = this.clock.now();
    const payment = resumedPayment(verification.payment, startedAt);
    const attempt = newAttempt(route, startedAt, this.clock, checks);
    const event = this.events.newEnvelope({
      type: PaymentProcessingV1,
      aggregateId: paymentId,
      aggregateVersion: paymentVersion + 1,
      payload: progressReport(payment),
    });
    const parameters = {
      paymentId,
      paymentVersion,
      knownVersion: verification.payment.payable.version,
      newVersion: payment.payable.version,
      startedAt,
      attempt: JSON.stringify(rowFromAttempt(paymentId, attempt)),
      checks: checks ? JSON.stringify(checks.checks) : null,
      mode: payment.mode,
      siteId: payment.siteId,
    };
    const [row] = await this.events.write<ResumedRow>(this.dataSource, RESUME, parameters, [event]);
    if (!row) return undefined;
    return {
      ...attempt,
      ...{ paymentId, paymentVersion: paymentVersion + 1, maxPayments, feeTerms, payment },
      velocityKeys: row.velocityKeys ?? undefined,
      isVerified: verification.verification !== undefined,
      forcesVerification: row.attackLevel > 0,
    };
  }

  /**
   * Stores what the bank gave to the payer's browser for the acquirer. Only the first result counts. Changes nothing when
   * the verification is not open.
   */
  async storeResult(paymentReference: string, result: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE verifications v SET result = $2, next_query_at = NULL, queried_at = NULL
         FROM payments p
        WHERE p.payment_reference = $1 AND v.payment_id = p.payment_id AND v.open AND v.result IS NULL`,
      [paymentReference, result],
    );
  }

  /** Fails the payment; nothing was charged. Undefined when another process was faster. */
  async fail(
    verification: OpenVerification,
    error: ErrorCode,
    velocity?: VelocityEnd,
  ): Promise<PaymentSnapshot | undefined> {
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
      velocity: velocity ? JSON.stringify(velocity) : null,
      now,
    };
    const [row] = await this.events.write(this.dataSource, FAIL, parameters, [event]);
    if (!row) return undefined;
    return failed;
  }
}

interface ResumedRow {
  readonly velocityKeys: string[] | null;
  readonly attackLevel: AttackLevel;
}

const IS_WAITING = `p.payment_id = $paymentId AND p.state = 'verificationRequired' AND p.version = $paymentVersion
            AND y.state = 'open' AND y.version = $knownVersion`;

/**
 * SQL of the item `counted_attempt` of a WITH clause: the charge with the counters of the payment, if any. The row is locked
 * before the payment (ADR 84).
 *
 * @param first FROM item that is evaluated before
 */
const lockCountedAttempt = (first: string): string => `counted_attempt AS MATERIALIZED (
         SELECT a.attempt_id, a.velocity_keys FROM attempts a CROSS JOIN ${first}
          WHERE a.payment_id = $paymentId AND a.velocity_keys IS NOT NULL FOR UPDATE OF a
       )`;
const ATTEMPT_FIRST = `(SELECT count(*) AS attempts FROM counted_attempt) AS attempt_first`;

const RESUME = statementWithEvents({
  writes: `item AS (
         SELECT $paymentId::uuid AS "paymentId", $checks::jsonb AS checks,
                EXISTS (SELECT FROM payments p JOIN payables y ON y.payable_id = p.payable_id WHERE ${IS_WAITING}) AS "isAvailable",
                ${attackLevelOf('$mode', '$siteId::bigint', '$startedAt')} AS "attackLevel"
       ), ${countInFlight('item')}, ${lockCountedAttempt(COUNTED_FIRST)}, target AS (
         SELECT p.payment_id, p.payable_id, item."attackLevel",
                coalesce((SELECT to_jsonb(velocity_keys) FROM counted_attempt), $attempt::jsonb -> 'velocityKeys') AS velocity_keys
           FROM item CROSS JOIN ${ATTEMPT_FIRST}
          CROSS JOIN payments p JOIN payables y ON y.payable_id = p.payable_id
          WHERE ${IS_WAITING} AND ${isCounted('item')}
            FOR UPDATE OF p, y
       ), payment AS (
         UPDATE payments p SET state = 'processing', modified_at = $startedAt, version = p.version + 1
           FROM target WHERE p.payment_id = target.payment_id
       ), payable AS (
         UPDATE payables y SET state = 'reserved', holder = target.payment_id, version = $newVersion, modified_at = $startedAt
           FROM target WHERE y.payable_id = target.payable_id
       ), verification AS (
         UPDATE verifications v SET open = false, result = NULL FROM target WHERE v.payment_id = target.payment_id
       ), earlier_attempt AS (
         UPDATE attempts a SET velocity_keys = NULL FROM target, counted_attempt c WHERE a.attempt_id = c.attempt_id
       ), attempt AS (
         ${insertAttempts('target', `$attempt::jsonb || jsonb_build_object('velocityKeys', target.velocity_keys)`)}
       )`,
  changed: 'target',
  aggregateId: 'payment_id',
  returns: `velocity_keys AS "velocityKeys", CASE WHEN $checks::jsonb IS NULL THEN 0 ELSE "attackLevel" END AS "attackLevel"`,
});

const FAIL = statementWithEvents({
  writes: `${lockCounters('(SELECT $velocity::jsonb AS velocity) AS item')}, ${lockCountedAttempt(LOCKED_FIRST)}, target AS (
         SELECT p.payment_id, p.payable_id, $now::timestamptz AS ended_at
           FROM ${ATTEMPT_FIRST} CROSS JOIN payments p JOIN payables y ON y.payable_id = p.payable_id
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
         UPDATE verifications v SET open = false, result = NULL FROM target WHERE v.payment_id = target.payment_id
       ), attempt AS (
         UPDATE attempts a SET velocity_keys = ${cardKeysOf('a.velocity_keys')}
           FROM target, counted_attempt c WHERE a.attempt_id = c.attempt_id
       ), ${endInFlight('target')}`,
  changed: 'target',
  aggregateId: 'payment_id',
});

const VERIFICATION_COLUMNS = `v.challenge_reference, v.result, v.acquirer, v.account, v.expires_at, ${PAYMENT_COLUMNS},
  (SELECT a.velocity_keys FROM attempts a WHERE a.payment_id = p.payment_id AND a.velocity_keys IS NOT NULL) AS velocity_keys`;

interface VerificationRow extends PaymentRow {
  challenge_reference: string | null;
  result: string | null;
  acquirer: string;
  account: string;
  expires_at: Date;
  velocity_keys: string[] | null;
}

interface PayerVerificationRow extends VerificationRow {
  open: boolean;
  payer_return_url: string | null;
  vault_token: string | null;
  fingerprint: string | null;
  range_fingerprint: string | null;
  other_fingerprint: string | null;
}

function cardFromRow(row: PayerVerificationRow): PayerVerification['card'] {
  const { vault_token: vaultToken, fingerprint: card, range_fingerprint: range, other_fingerprint: otherCard } = row;
  if (vaultToken === null || card === null || range === null) return undefined;
  return { vaultToken, fingerprint: { card, range, otherCard: otherCard ?? undefined } };
}

function openVerificationFromRow(row: VerificationRow): OpenVerification {
  return {
    paymentId: row.paymentId,
    paymentVersion: row.version,
    verification:
      row.challenge_reference === null
        ? undefined
        : { challengeReference: row.challenge_reference, result: row.result ?? undefined },
    route: { acquirer: row.acquirer, account: { mode: row.mode, accountReference: row.account } },
    expiresAt: row.expires_at,
    velocityKeys: row.velocity_keys ?? undefined,
    maxPayments: row.maxPayments,
    feeTerms: feeTermsFromRow(row),
    payment: snapshotFromRow(row),
  };
}

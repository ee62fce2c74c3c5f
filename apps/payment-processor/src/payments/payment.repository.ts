import { Inject, Injectable } from '@nestjs/common';
import {
  type AttackLevel,
  type EventEnvelope,
  type PayableDescriptor,
  PaymentFailedV1,
  PaymentProcessingV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { canonicalId, Clock, newUuid } from '@svc/kernel';
import { EventLog, type StatementWithEvents } from '@svc/messaging';
import { batched, type BatchSettings, type NamedParameters } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { paymentTransfers } from '../ledger/transfer.js';
import { transferRows } from '../ledger/transfer.repository.js';
import type { VelocityEnd } from '../velocity/counters/end-in-flight.query.js';
import type { PaymentChecks } from '../velocity/velocity-checks.js';
import { ACCEPT, joinMerchant, siteReferenceOf } from './accept-payment.query.js';
import type { AttemptEnd, AttemptState } from './attempt.js';
import { newAttempt, type OpenAttempt, rowFromAttempt } from './attempt.repository.js';
import { progressReport, settledPayment } from './payment.js';
import {
  feeTermsFromRow,
  PAYMENT_COLUMNS,
  PAYMENT_TABLES,
  type PaymentRow,
  rowFromPayment,
  snapshotFromRow,
} from './payment-columns.js';
import {
  SETTLE,
  SETTLE_WITH_CAPTURE,
  SETTLE_WITH_RELEASE,
  SETTLE_WITH_VERIFICATION,
  type SettlementValues,
} from './settle-payment.query.js';

/**
 * The only code that reads and writes payments. One statement accepts a payment, and one statement records its outcome.
 * In such a statement payable, payment, attempt, ledger and event change together or not at all, in one round trip.
 * Payments that are accepted (or settled) at the same time share one statement. A statement locks the rows of a payable
 * in the order attempt, payment, payable, and the rows of several payables in the order of the payables' ids, so that
 * two statements cannot deadlock. Before all of them it locks the counters of the limits against card testing, in the order of
 * their keys.
 */
@Injectable()
export class PaymentRepository {
  private readonly acceptInBatch: (item: BatchItem) => Promise<AcceptedRow | undefined>;
  private readonly settleInBatch: (item: BatchItem) => Promise<object | undefined>;
  private readonly settleWithCaptureInBatch: (item: BatchItem) => Promise<object | undefined>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.acceptInBatch = batched((items) => this.write<AcceptedRow>(ACCEPT, items), BATCHES);
    this.settleInBatch = batched((items) => this.write(SETTLE, items), BATCHES);
    this.settleWithCaptureInBatch = batched((items) => this.write(SETTLE_WITH_CAPTURE, items), BATCHES);
  }

  /**
   * Changes the payable `open → reserved` and records payment and attempt, or changes nothing and returns undefined.
   * Inserts a missing payable, because the payment may have overtaken the event `session.created`. The payment contains
   * the current name of the merchant, and the reference of the till (for an invoice) or of the site (for a session). Accepts no payment while one of these is unknown ({@link knowsNames}), because a payment keeps its names
   * and fee terms.
   *
   * @param checks the limits that the payment must keep (P11); undefined if the merchant has none
   */
  async accept(
    payable: PayableDescriptor,
    payment: PaymentSnapshot,
    route: ChargeRoute,
    checks?: PaymentChecks,
  ): Promise<OpenAttempt | undefined> {
    const paymentId = checks?.paymentId ?? newUuid(this.clock);
    // The row and the event get the same time, so that both have the same `paymentUTCDate`.
    const attempt = newAttempt(route, new Date(payment.paymentUTCDate), this.clock, checks);
    const { payableId, maxPayments } = payable;
    const row = await this.acceptInBatch({
      payableId,
      event: this.events.newEnvelope({
        type: PaymentProcessingV1,
        aggregateId: paymentId,
        aggregateVersion: 1,
        payload: progressReport(payment),
      }),
      values: {
        payable: { ...payable, paymentCount: payment.payable.paymentCount },
        payment: rowFromPayment(paymentId, payment),
        attempt: rowFromAttempt(paymentId, attempt),
        ...(checks ? { checks: checks.checks } : {}),
      },
    });
    if (!row) return undefined;
    const { merchantName, siteReference, version, attackLevel } = row;
    const accepted = { ...payment, merchantName, siteReference, payable: { ...payment.payable, version } };
    return {
      ...attempt,
      ...{ paymentId, paymentVersion: 1, maxPayments },
      forcesVerification: attackLevel > 0,
      feeTerms: feeTermsFromRow(row),
      payment: accepted,
    };
  }

  /**
   * Records the end of an attempt with all its effects. Changes nothing and returns undefined when the state of the
   * attempt is not in `from`.
   */
  async settle(
    attempt: OpenAttempt,
    end: AttemptEnd,
    from: readonly AttemptState[],
    velocity?: VelocityEnd,
  ): Promise<PaymentSnapshot | undefined> {
    const settled = settledPayment(attempt.payment, end.settlement, attempt.maxPayments, this.clock.now());
    const item = this.settlementItem(attempt, end, from, settled, velocity);
    const verification = end.settlement.state === 'verificationRequired' ? end.settlement.challenge : undefined;
    // Verifications are rare. They have a separate statement, so that the shared statement stays small.
    if (verification) {
      const { reference, url } = verification;
      const challenge = { reference, url, expiresAt: settled.verificationUntilUTCDate };
      const [row] = await this.write(SETTLE_WITH_VERIFICATION, [item], challenge);
      return row && settled;
    }
    if (end.followUp === 'release') {
      const [row] = await this.write(SETTLE_WITH_RELEASE, [item]);
      return row && settled;
    }
    const row = await (end.followUp === 'capture' ? this.settleWithCaptureInBatch(item) : this.settleInBatch(item));
    return row && settled;
  }

  private settlementItem(
    attempt: OpenAttempt,
    end: AttemptEnd,
    from: readonly AttemptState[],
    settled: PaymentSnapshot,
    velocity: VelocityEnd | undefined,
  ): BatchItem {
    const { payableId, version } = attempt.payment.payable;
    const values: SettlementValues = {
      lock_order: payableId,
      attempt_id: attempt.attemptId,
      from_states: from,
      known_version: version,
      attempt_state: end.state,
      acquirer_reference: end.acquirerReference,
      acquirer_code: end.acquirerCode,
      ended_at: settled.modifiedUTCDate,
      payment_state: settled.state,
      processed_amount: settled.processedAmount,
      errors: settled.errors,
      payable_state: settled.payable.state,
      payable_version: settled.payable.version,
      transfers: transferRows(
        paymentTransfers(settled, attempt),
        settled,
        { paymentId: attempt.paymentId, createdAt: settled.modifiedUTCDate },
        this.clock,
      ),
      velocity: velocity ?? null,
    };
    return {
      payableId,
      event: this.events.newEnvelope({
        type: EVENT_TYPES[end.settlement.state],
        aggregateId: attempt.paymentId,
        aggregateVersion: attempt.paymentVersion + 1,
        payload: settled,
      }),
      values,
    };
  }

  /**
   * Runs a statement for items of different payables. Returns the row of each item, or undefined for an item that was
   * not changed.
   */
  private async write<Row extends object>(
    statement: StatementWithEvents,
    items: readonly BatchItem[],
    extraParameters: NamedParameters = {},
  ): Promise<(Row | undefined)[]> {
    const parameters = { ...extraParameters, items: JSON.stringify(items.map(({ values }) => values)) };
    const envelopes = items.map(({ event }) => event);
    const rows = await this.events.write<Row>(this.dataSource, statement, parameters, envelopes);
    const rowsById = new Map(rows.map((row) => [row.aggregateId, row]));
    return items.map(({ event }) => rowsById.get(event.aggregateId));
  }

  /** False while identity's event of the payable's merchant or site has not arrived. */
  async knowsNames({ mode, merchantId, siteId, source }: PayableDescriptor): Promise<boolean> {
    const [row] = await this.dataSource.query<[{ known: boolean }]>(
      `SELECT "merchantName" IS NOT NULL AND ${siteReferenceOf('payable')} IS NOT NULL AS known
         FROM (SELECT $1::text AS mode, $2::bigint AS "merchantId", $3::bigint AS "siteId", $4::jsonb AS source) AS payable
         ${joinMerchant('payable.mode', 'payable."merchantId"')}`,
      [mode, merchantId, siteId, JSON.stringify(source)],
    );
    return row.known;
  }

  /** The payment of this payable with the client's `reference`, in its current state. */
  async find(payableId: string, reference: string): Promise<PaymentSnapshot | undefined> {
    const [row] = await this.dataSource.query<PaymentRow[]>(
      `SELECT ${PAYMENT_COLUMNS} FROM ${PAYMENT_TABLES} WHERE p.payable_id = $1 AND p.reference = $2`,
      [payableId, reference],
    );
    return row && snapshotFromRow(row);
  }

  /** All payments of a payable, newest first, without a check of the owner: see {@link PayableRepository.find}. */
  async findAll(payableId: string): Promise<PaymentSnapshot[]> {
    const rows = await this.dataSource.query<PaymentRow[]>(
      `SELECT ${PAYMENT_COLUMNS} FROM ${PAYMENT_TABLES} WHERE p.payable_id = $1 ORDER BY p.accepted_at DESC LIMIT 100`,
      [payableId],
    );
    return rows.map(snapshotFromRow);
  }
}

/** One payment in a batch: its event and its column values. */
interface BatchItem {
  readonly payableId: string;
  /** Created by the caller, so that the event belongs to the trace of its own payment. The aggregate is the payment. */
  readonly event: EventEnvelope;
  /** Column values of the statement's CTE or subquery `item`. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Two batches run concurrently: while the first batch commits, the second batch is filled. More concurrent batches
 * would be smaller, and would use connections that reads need. A batch has at most 50 payments. This limits how many
 * payments wait for the lock of one row, and how many payments are retried one by one after an error in one row. The
 * number of batches and the limit of 50 were not measured separately.
 */
const BATCHES: BatchSettings<BatchItem> = {
  key: ({ payableId }) => canonicalId(payableId),
  maxItems: 50,
  maxConcurrentBatches: 2,
};

interface AcceptedRow extends Pick<PaymentRow, 'merchantName' | 'siteReference' | 'feeBasisPoints' | 'feeFixedAmount'> {
  /** The version of the payable. */
  readonly version: number;
  readonly attackLevel: AttackLevel;
}

const EVENT_TYPES = {
  success: PaymentSucceededV1,
  failed: PaymentFailedV1,
  verificationRequired: PaymentVerificationRequiredV1,
} as const;

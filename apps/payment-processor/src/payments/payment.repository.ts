import { Inject, Injectable } from '@nestjs/common';
import {
  type EventEnvelope,
  type PayableDescriptor,
  PaymentFailedV1,
  PaymentProcessingV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { canonicalId, Clock, newUuid } from '@svc/kernel';
import { EventLog, type StatementWithEvents, statementWithEvents } from '@svc/messaging';
import {
  batched,
  type BatchSettings,
  insertedColumns,
  type NamedParameters,
  recordColumns,
  recordValues,
} from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { paymentTransfers } from '../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../ledger/transfer.repository.js';
import { PAYABLE_MAP } from '../payables/payable.repository.js';
import { insertAttempts, insertPayments, joinMerchant, siteReferenceOf } from './accept-payment.query.js';
import type { AttemptEnd, AttemptState } from './attempt.js';
import { newAttempt, type OpenAttempt, rowFromAttempt } from './attempt.repository.js';
import { settledPayment } from './payment.js';
import {
  feeTermsFromRow,
  PAYMENT_COLUMNS,
  PAYMENT_TABLES,
  type PaymentRow,
  rowFromPayment,
  snapshotFromRow,
} from './payment-columns.js';

/**
 * The only code that reads and writes payments. One statement accepts a payment, and one statement records its outcome.
 * In such a statement payable, payment, attempt, ledger and event change together or not at all, in one round trip.
 * Payments that are accepted (or settled) at the same time share one statement. A statement locks the rows of a payable
 * in the order attempt, payment, payable, and the rows of several payables in the order of the payables' ids, so that
 * two statements cannot deadlock.
 */
@Injectable()
export class PaymentRepository {
  private readonly acceptInBatch: (item: BatchItem) => Promise<AcceptedRow | undefined>;
  private readonly settleInBatch: (item: BatchItem) => Promise<object | undefined>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.acceptInBatch = batched((items) => this.write<AcceptedRow>(ACCEPT, items), BATCHES);
    this.settleInBatch = batched((items) => this.write(SETTLE, items), BATCHES);
  }

  /**
   * Changes the payable `open → reserved` and records payment and attempt, or changes nothing and returns undefined.
   * Inserts a missing payable, because the payment may have overtaken the event `session.created`. The payment and the
   * event contain the current name of the merchant, and the reference of the till (for an invoice) or of the site (for
   * a session). Accepts no payment while one of these is unknown ({@link knowsNames}), because a payment keeps its names
   * and fee terms.
   */
  async accept(
    payable: PayableDescriptor,
    payment: PaymentSnapshot,
    route: ChargeRoute,
  ): Promise<OpenAttempt | undefined> {
    const paymentId = newUuid(this.clock);
    // The row and the event get the same time, so that both have the same `paymentUTCDate`.
    const attempt = newAttempt(route, new Date(payment.paymentUTCDate), this.clock);
    const { payableId, maxPayments } = payable;
    const row = await this.acceptInBatch({
      payableId,
      event: this.events.newEnvelope({
        type: PaymentProcessingV1,
        aggregateId: paymentId,
        aggregateVersion: 1,
        payload: payment,
      }),
      values: {
        payable: { ...payable, paymentCount: payment.payable.paymentCount },
        payment: rowFromPayment(paymentId, payment),
        attempt: rowFromAttempt(paymentId, attempt),
      },
    });
    if (!row) return undefined;
    const { merchantName, siteReference, version } = row;
    const accepted = { ...payment, merchantName, siteReference, payable: { ...payment.payable, version } };
    return { ...attempt, paymentId, paymentVersion: 1, maxPayments, feeTerms: feeTermsFromRow(row), payment: accepted };
  }

  /**
   * Records the end of an attempt with all its effects. Changes nothing and returns undefined when the state of the
   * attempt is not in `from`.
   */
  async settle(
    attempt: OpenAttempt,
    end: AttemptEnd,
    from: readonly AttemptState[],
  ): Promise<PaymentSnapshot | undefined> {
    const settled = settledPayment(attempt.payment, end.settlement, attempt.maxPayments, this.clock.now());
    const item = this.settlementItem(attempt, end, from, settled);
    const verification = end.settlement.state === 'verificationRequired' ? end.settlement.challenge : undefined;
    // Verifications are rare. They have a separate statement, so that the shared statement stays small.
    if (verification) {
      const { reference, url } = verification;
      const challenge = { reference, url, expiresAt: settled.verificationUntilUTCDate };
      const [row] = await this.write(SETTLE_WITH_VERIFICATION, [item], challenge);
      return row && settled;
    }
    const row = await this.settleInBatch(item);
    return row && settled;
  }

  private settlementItem(
    attempt: OpenAttempt,
    end: AttemptEnd,
    from: readonly AttemptState[],
    settled: PaymentSnapshot,
  ): BatchItem {
    const { payableId, version } = attempt.payment.payable;
    const values: Record<keyof typeof SETTLEMENT_TYPES, unknown> = {
      lock_order: payableId,
      attempt_id: attempt.attemptId,
      from_states: from,
      known_version: version,
      attempt_state: end.state,
      acquirer_reference: end.acquirerReference,
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
}

/** The values that the statement {@link ACCEPT} reads from the tables of merchants and sites. */
const NAMES = `'merchantName', "merchantName", 'siteReference', "siteReference"`;
const FEE_TERMS = `'feeBasisPoints', "feeBasisPoints", 'feeFixedAmount', "feeFixedAmount"`;

/**
 * The statement of {@link PaymentRepository.accept}. Its text is the same for any number of payments. The payable to
 * insert contains the number of this payment in `paymentCount`. ON CONFLICT compares this number with the count of the
 * existing row.
 */
const ACCEPT = statementWithEvents({
  writes: `item AS (
         SELECT payable.*, payment."paymentId", payment.reference, payment."acceptedAt", item.payment, item.attempt, merchant.*,
                ${siteReferenceOf('payable')} AS "siteReference"
           FROM jsonb_to_recordset($items::jsonb) AS item(payable jsonb, payment jsonb, attempt jsonb)
          CROSS JOIN LATERAL jsonb_to_record(item.payable) AS payable(${recordColumns(PAYABLE_MAP)}, "paymentCount" int)
          CROSS JOIN LATERAL jsonb_to_record(item.payment) AS payment("paymentId" uuid, reference uuid, "acceptedAt" timestamptz)
          ${joinMerchant('payable.mode', 'payable."merchantId"')}
       ), payable AS (
         INSERT INTO payables AS p (${insertedColumns(PAYABLE_MAP)}, state, holder, payment_count, version, created_at, modified_at)
         SELECT ${recordValues(PAYABLE_MAP, 'item')}, 'reserved', "paymentId", "paymentCount", 2, "acceptedAt", "acceptedAt"
           FROM item
          WHERE "merchantName" IS NOT NULL AND "siteReference" IS NOT NULL
            AND "expiresAt" > "acceptedAt" AND "paymentCount" <= "maxPayments"
            AND ("paymentCount" = 1 OR (SELECT true FROM payables known WHERE known.payable_id = item."payableId")
                          AND (SELECT true FROM payments earlier
                                WHERE earlier.payable_id = item."payableId" AND earlier.reference = item.reference) IS NULL)
          ORDER BY "payableId"
         ON CONFLICT (payable_id) DO UPDATE
            SET state = 'reserved', holder = excluded.holder, payment_count = p.payment_count + 1, version = p.version + 1,
                modified_at = excluded.modified_at
          WHERE p.state = 'open' AND p.expires_at > excluded.modified_at
            AND p.payment_count = excluded.payment_count - 1 AND p.payment_count < p.max_payments
            AND (p.mode, p.merchant_id, p.site_id, p.amount, p.currency)
              = (excluded.mode, excluded.merchant_id, excluded.site_id, excluded.amount, excluded.currency)
         RETURNING holder, version
       ), accepted AS (
         SELECT "paymentId", version, item.payment, attempt, "merchantName", "siteReference", "feeBasisPoints", "feeFixedAmount"
           FROM payable JOIN item ON item."paymentId" = payable.holder
       ), payment AS (
         ${insertPayments('accepted', `accepted.payment || jsonb_build_object(${NAMES}, ${FEE_TERMS})`)}
       ), attempt AS (
         ${insertAttempts('accepted', 'accepted.attempt')}
       )`,
  changed: 'accepted',
  aggregateId: '"paymentId"',
  payload: `jsonb_set(event.payload, '{payable,version}', to_jsonb(accepted.version)) || jsonb_build_object(${NAMES})`,
  returns: `version, "merchantName", "siteReference", "feeBasisPoints", "feeFixedAmount"`,
});

/** The values of {@link PaymentRepository.settle}, and their types in its statement. */
const SETTLEMENT_TYPES = {
  lock_order: 'uuid',
  attempt_id: 'uuid',
  from_states: 'text[]',
  known_version: 'bigint',
  attempt_state: 'text',
  acquirer_reference: 'text',
  ended_at: 'timestamptz',
  payment_state: 'text',
  processed_amount: 'bigint',
  errors: 'jsonb',
  payable_state: 'text',
  payable_version: 'bigint',
  transfers: 'jsonb',
};
const SETTLEMENT_COLUMNS = Object.entries(SETTLEMENT_TYPES)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/**
 * The statement of {@link PaymentRepository.settle}. The rows are found by key and locked first. Their states are
 * compared afterwards, because with a state in the search condition the planner could read a whole partial index.
 */
const SETTLE_WRITES = `locked AS (
         SELECT item.*, found.*
           FROM (SELECT * FROM jsonb_to_recordset($items::jsonb) AS item(${SETTLEMENT_COLUMNS})
                  ORDER BY lock_order) item
          CROSS JOIN LATERAL (
            SELECT a.payment_id, a.acquirer, a.account, p.payable_id, a.state AS found_attempt, p.state AS found_payment, y.holder, y.version
              FROM attempts a JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
             WHERE a.attempt_id = item.attempt_id
               FOR UPDATE OF a, p, y) found
       ), target AS (
         SELECT * FROM locked
          WHERE found_attempt = ANY (from_states) AND found_payment = 'processing'
            AND holder = payment_id AND version = known_version
       ), attempt AS (
         UPDATE attempts a SET state = attempt_state, acquirer_reference = target.acquirer_reference, ended_at = target.ended_at,
                               next_query_at = NULL
           FROM target WHERE a.attempt_id = target.attempt_id
       ), payment AS (
         UPDATE payments p SET state = payment_state, processed_amount = target.processed_amount, errors = target.errors,
                               modified_at = target.ended_at, version = p.version + 1
           FROM target WHERE p.payment_id = target.payment_id
       ), payable AS (
         UPDATE payables y SET state = payable_state, holder = CASE WHEN payable_state = 'paid' THEN y.holder END,
                               version = payable_version, modified_at = target.ended_at
           FROM target WHERE y.payable_id = target.payable_id
       ), transfer AS (
         ${insertTransfersSql('transfers', 'target')}
       )`;

const EVENT_TYPES = {
  success: PaymentSucceededV1,
  failed: PaymentFailedV1,
  verificationRequired: PaymentVerificationRequiredV1,
} as const;

const SETTLED = { changed: 'target', aggregateId: 'payment_id' };

const SETTLE = statementWithEvents({ writes: SETTLE_WRITES, ...SETTLED });

const SETTLE_WITH_VERIFICATION = statementWithEvents({
  writes: `${SETTLE_WRITES}, verification AS (
         INSERT INTO verifications (payment_id, acquirer, account, challenge_reference, challenge_url, expires_at, open)
         SELECT payment_id, acquirer, account, $reference, $url, $expiresAt::timestamptz, true FROM target
         ON CONFLICT (payment_id) DO UPDATE
            SET acquirer = excluded.acquirer, account = excluded.account, challenge_reference = excluded.challenge_reference, challenge_url = excluded.challenge_url,
                expires_at = excluded.expires_at, open = true, queried_at = NULL,
                next_query_at = NULL
       )`,
  ...SETTLED,
});

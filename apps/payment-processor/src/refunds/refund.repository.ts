import { Inject, Injectable } from '@nestjs/common';
import {
  type Mode,
  type PaymentSnapshot,
  type PaymentState,
  type RefundedPayment,
  RefundFailedV1,
  type RefundResponse,
  type RefundStatus,
  RefundSucceededV1,
} from '@svc/contracts';
import { Clock, newUuidAt } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction, namedStatement, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { RefundQueryResult } from '../acquirers/acquirer.js';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { refundTransfer } from '../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../ledger/transfer.repository.js';
import { PAYMENT_COLUMNS, PAYMENT_TABLES, type PaymentRow, snapshotFromRow } from '../payments/payment-columns.js';
import { conclude, nextQueryAt, type RefundablePayment, type RefundConclusion } from './refund.js';

/** Owner of payments that can be refunded: a merchant in one mode, or one of its sites. */
interface RefundOwner {
  readonly merchantId: number;
  readonly mode: Mode;
  /** Undefined: all sites of the merchant. */
  readonly siteId: number | undefined;
}

/** A payment with the data for a refund. */
export interface PaymentToRefund extends RefundablePayment {
  readonly state: PaymentState;
  readonly paymentId: string;
  readonly paymentReference: string;
  readonly currencyISOCode: string;
  /** The charge of the acquirer; undefined if there is none. */
  readonly charge: (ChargeRoute & { readonly attemptId: string; readonly acquirerReference: string }) | undefined;
}

/** A refund with the data for a call to the acquirer. */
export interface OpenRefund extends ChargeRoute {
  /** Also the idempotency key at the acquirer. */
  readonly refundId: string;
  /** Idempotency key of the charge. */
  readonly attemptId: string;
  /** The acquirer's reference of the charge. */
  readonly chargeReference: string;
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
  /** Time at which the refund was committed. */
  readonly createdAt: Date;
  /** Number of queries to the acquirer by the recovery job. */
  readonly queries: number;
}

/** A refund to create, with its idempotency key. */
export interface NewRefund {
  readonly owner: RefundOwner;
  readonly idempotencyKey: string;
  readonly fingerprint: string;
  readonly payment: PaymentToRefund;
  /** Cents. */
  readonly amount: number;
  readonly reason: string | undefined;
  /** UUID of the API key. */
  readonly requestedBy: string;
}

/** A refund in its committed state. */
export interface CurrentRefund {
  readonly fingerprint: string;
  readonly refund: RefundResponse;
}

/** Limit of listed refunds of one payment. */
const MAX_LISTED_REFUNDS = 1_000;

/** The only code that writes refunds. */
@Injectable()
export class RefundRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async findPayment(owner: RefundOwner, paymentReference: string): Promise<PaymentToRefund | undefined> {
    const [row] = await this.dataSource.query<PaymentToRefundRow[]>(
      `SELECT p.payment_id AS "paymentId", p.payment_reference AS "paymentReference", p.state, p.method_type AS "paymentMethodType",
              p.processed_amount AS "processedAmount", p.refunded_amount AS "refundedAmount",
              p.refund_pending_amount AS "pendingAmount", y.currency AS "currencyISOCode", y.mode,
              a.attempt_id AS "attemptId", a.acquirer, a.account, a.acquirer_reference AS "acquirerReference"
         FROM payments p JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN attempts a ON a.payment_id = p.payment_id AND a.state = 'approved'
        WHERE p.payment_reference = $1 AND y.merchant_id = $2 AND y.mode = $3 AND ($4::bigint IS NULL OR y.site_id = $4)`,
      [paymentReference, owner.merchantId, owner.mode, owner.siteId ?? null],
    );
    if (!row) return undefined;
    const { mode, attemptId, acquirer, account, acquirerReference, ...payment } = row;
    const isCharged = attemptId !== null && acquirer !== null && account !== null && acquirerReference !== null;
    const route = isCharged ? { acquirer, account: { mode, accountReference: account } } : undefined;
    return { ...payment, charge: route && isCharged ? { ...route, attemptId, acquirerReference } : undefined };
  }

  async findByKey({ merchantId, mode }: RefundOwner, idempotencyKey: string): Promise<CurrentRefund | undefined> {
    const [row] = await this.dataSource.query<(RefundRow & { fingerprint: string })[]>(
      `SELECT k.fingerprint, ${REFUND_COLUMNS}
         FROM refund_idempotency_keys k JOIN refunds r ON r.refund_id = k.refund_id JOIN payments p ON p.payment_id = r.payment_id
        WHERE k.merchant_id = $1 AND k.mode = $2 AND k.idempotency_key = $3`,
      [merchantId, mode, idempotencyKey],
    );
    return row && { fingerprint: row.fingerprint, refund: responseFromRow(row) };
  }

  /** Refunds of one payment, newest first. The caller has checked the owner of the payment. */
  async list({ paymentId }: PaymentToRefund): Promise<RefundResponse[]> {
    const rows = await this.dataSource.query<RefundRow[]>(
      `SELECT ${REFUND_COLUMNS} FROM refunds r JOIN payments p ON p.payment_id = r.payment_id
        WHERE r.payment_id = $1 ORDER BY r.refund_id DESC LIMIT $2`,
      [paymentId, MAX_LISTED_REFUNDS],
    );
    return rows.map(responseFromRow);
  }

  /**
   * Commits a new refund: reserves the amount on the payment's row, and writes the refund and its idempotency key.
   * Undefined, without any change, when the refundable amount is too small. The processed amount of an unsuccessful
   * payment is 0 (constraint payments_processed). The UPDATE compares and reserves in one step, and concurrent refunds
   * of the payment wait for it. Therefore the sum of all refunds never exceeds the processed amount.
   */
  async create(refund: NewRefund): Promise<OpenRefund | undefined> {
    const { owner, payment, amount } = refund;
    if (!payment.charge) throw new Error('A payment that was not charged cannot be refunded.');
    const { attemptId, acquirerReference, ...route } = payment.charge;
    const createdAt = this.clock.now();
    const refundId = newUuidAt(createdAt);
    const values = CREATE.valuesOf({
      ...{ refundId, attemptId, amount, createdAt, nextQueryAt: nextQueryAt(createdAt, 0, createdAt) },
      paymentId: payment.paymentId,
      reason: refund.reason ?? null,
      requestedBy: refund.requestedBy,
      merchantId: owner.merchantId,
      mode: owner.mode,
      idempotencyKey: refund.idempotencyKey,
      fingerprint: refund.fingerprint,
    });
    const rows = await this.dataSource.query<unknown[]>(CREATE.text, values);
    if (rows.length === 0) return undefined;
    const { paymentReference, currencyISOCode } = payment;
    const charge = { attemptId, chargeReference: acquirerReference, paymentReference, currencyISOCode };
    return { refundId, ...charge, ...route, amount, createdAt, queries: 0 };
  }

  /**
   * Records the acquirer's response about a refund. One transaction ends the refund with all effects: the payment's
   * amounts, the transfer in the ledger and the event. A response that contradicts the row only creates an incident.
   */
  async settle({ refundId, queries }: OpenRefund, response: RefundQueryResult): Promise<RefundConclusion> {
    return inTransaction(this.dataSource, async (tx) => {
      const [row] = await tx.query<LockedRow[]>(
        `SELECT r.state AS refund_state, r.amount AS refund_amount, r.created_at, a.acquirer, ${PAYMENT_COLUMNS}
           FROM ${PAYMENT_TABLES} JOIN refunds r ON r.payment_id = p.payment_id JOIN attempts a ON a.attempt_id = r.attempt_id
          WHERE r.refund_id = $1 FOR UPDATE OF r`,
        [refundId],
      );
      if (!row) throw new Error('The refund to settle was not found.');
      const conclusion = conclude(row.refund_state, response);
      if (conclusion.kind === 'end') await this.end(tx, refundId, row, conclusion);
      if (conclusion.kind === 'queryAgain')
        await this.scheduleQuery(tx, refundId, nextQueryAt(row.created_at, queries, this.clock.now()));
      if (conclusion.kind === 'incident') await this.recordIncident(tx, refundId, row.refund_state, response);
      return conclusion;
    });
  }

  private async end(
    tx: Transaction,
    refundId: string,
    row: LockedRow,
    { state, acquirerReference }: Extract<RefundConclusion, { kind: 'end' }>,
  ): Promise<void> {
    const now = this.clock.now();
    const payment = snapshotFromRow(row);
    await tx.query(
      `UPDATE refunds SET state = $2, acquirer_reference = $3, ended_at = $4, next_query_at = NULL WHERE refund_id = $1`,
      [refundId, state, acquirerReference, now],
    );
    await tx.query(
      `UPDATE payments SET refund_pending_amount = refund_pending_amount - $2, refunded_amount = refunded_amount + $3
        WHERE payment_id = $1`,
      [row.paymentId, row.refund_amount, state === 'succeeded' ? row.refund_amount : 0],
    );
    if (state === 'succeeded') {
      const transfers = [refundTransfer(payment, row.acquirer, row.refund_amount)];
      const { paymentId } = row;
      const rows = transferRows(transfers, payment, { paymentId, refundId, createdAt: now }, this.clock);
      await tx.query(insertTransfersSql('$1::jsonb'), [JSON.stringify(rows)]);
    }
    await this.events.append(tx, {
      type: state === 'succeeded' ? RefundSucceededV1 : RefundFailedV1,
      aggregateId: refundId,
      aggregateVersion: 1,
      payload: refundedPayment(payment, refundId, state, row),
    });
  }

  private async scheduleQuery(tx: Transaction, refundId: string, at: Date): Promise<void> {
    await tx.query(`UPDATE refunds SET next_query_at = $2 WHERE refund_id = $1`, [refundId, at]);
  }

  /** Records a response that contradicts the refund. One row for each state and response counts the occurrences. */
  private async recordIncident(
    tx: Transaction,
    refundId: string,
    state: RefundStatus,
    response: RefundQueryResult,
  ): Promise<void> {
    const reference = 'acquirerReference' in response ? response.acquirerReference : null;
    await tx.query(
      `INSERT INTO refund_incidents AS i (refund_id, refund_state, response, acquirer_reference, first_seen_at, last_seen_at, occurrences)
       VALUES ($1, $2, $3, $4, $5, $5, 1)
       ON CONFLICT (refund_id, refund_state, response) DO UPDATE SET last_seen_at = $5, occurrences = i.occurrences + 1`,
      [refundId, state, response.kind, reference, this.clock.now()],
    );
  }

  /**
   * Leases due pending refunds, each to one caller. `leaseUntil` becomes the next due time, so that another caller can
   * continue if this caller crashes.
   */
  async leaseDue(leaseUntil: Date, limit: number): Promise<OpenRefund[]> {
    const [rows] = await this.dataSource.query<[OpenRow[], number]>(
      `UPDATE refunds r SET queries = r.queries + 1, next_query_at = $2
         FROM (SELECT refund_id FROM refunds WHERE next_query_at <= $1 ORDER BY next_query_at LIMIT $3 FOR UPDATE SKIP LOCKED) due,
              ${OPEN_TABLES}
        WHERE r.refund_id = due.refund_id AND ${OPEN_JOINS}
        RETURNING ${OPEN_COLUMNS}`,
      [this.clock.now(), leaseUntil, limit],
    );
    return rows.map(openRefundFromRow);
  }

  /**
   * Leases a pending refund for which a client waits. Undefined if the refund has ended, or if the last query for a
   * waiting client was after `maxLastQueryAt`.
   */
  async leaseForPoll(refundId: string, maxLastQueryAt: Date): Promise<OpenRefund | undefined> {
    const [[row]] = await this.dataSource.query<[OpenRow[], number]>(
      `UPDATE refunds r SET queried_at = $2 FROM ${OPEN_TABLES}
        WHERE r.refund_id = $1 AND r.state = 'pending' AND (r.queried_at IS NULL OR r.queried_at <= $3) AND ${OPEN_JOINS}
        RETURNING ${OPEN_COLUMNS}`,
      [refundId, this.clock.now(), maxLastQueryAt],
    );
    return row && openRefundFromRow(row);
  }
}

const CREATE = namedStatement(`WITH reserved AS (
         UPDATE payments SET refund_pending_amount = refund_pending_amount + $amount
          WHERE payment_id = $paymentId AND refunded_amount + refund_pending_amount + $amount <= processed_amount
         RETURNING payment_id
       ), refund AS (
         INSERT INTO refunds (refund_id, payment_id, attempt_id, amount, reason, requested_by, state, created_at, queries, next_query_at)
         SELECT $refundId, payment_id, $attemptId, $amount, $reason, $requestedBy, 'pending', $createdAt, 0, $nextQueryAt
           FROM reserved
         RETURNING refund_id
       )
       INSERT INTO refund_idempotency_keys (merchant_id, mode, idempotency_key, fingerprint, refund_id)
       SELECT $merchantId, $mode, $idempotencyKey, $fingerprint, refund_id FROM refund
       RETURNING refund_id`);

const REFUND_COLUMNS = `r.refund_id, r.amount, r.state, r.created_at, p.payment_reference`;

interface RefundRow {
  refund_id: string;
  amount: number;
  state: RefundStatus;
  created_at: Date;
  payment_reference: string;
}

function responseFromRow(row: RefundRow): RefundResponse {
  return {
    refundReference: row.refund_id,
    svcId: row.payment_reference,
    amount: row.amount,
    status: row.state,
    createdUTCDate: row.created_at.toISOString(),
  };
}

type PaymentToRefundRow = Omit<PaymentToRefund, 'charge'> & {
  mode: Mode;
  attemptId: string | null;
  acquirer: string | null;
  account: string | null;
  acquirerReference: string | null;
};

interface LockedRow extends PaymentRow {
  refund_state: RefundStatus;
  refund_amount: number;
  created_at: Date;
  acquirer: string;
}

/** The payload of the event: the payment with its ended refund. */
function refundedPayment(
  payment: PaymentSnapshot,
  refundReference: string,
  status: RefundStatus,
  { refund_amount: amount, created_at: createdAt }: LockedRow,
): RefundedPayment {
  return { ...payment, refund: { refundReference, amount, status, createdUTCDate: createdAt.toISOString() } };
}

const OPEN_TABLES = `attempts a, payments p, payables y`;
const OPEN_JOINS = `a.attempt_id = r.attempt_id AND p.payment_id = r.payment_id AND y.payable_id = p.payable_id`;
const OPEN_COLUMNS = `r.refund_id, r.attempt_id, r.amount, r.created_at, r.queries, a.acquirer, a.account,
  a.acquirer_reference, p.payment_reference, y.mode, y.currency`;

interface OpenRow {
  refund_id: string;
  attempt_id: string;
  amount: number;
  created_at: Date;
  queries: number;
  acquirer: string;
  account: string;
  acquirer_reference: string;
  payment_reference: string;
  mode: Mode;
  currency: string;
}

function openRefundFromRow(row: OpenRow): OpenRefund {
  return {
    refundId: row.refund_id,
    attemptId: row.attempt_id,
    chargeReference: row.acquirer_reference,
    paymentReference: row.payment_reference,
    amount: row.amount,
    currencyISOCode: row.currency,
    createdAt: row.created_at,
    queries: row.queries,
    acquirer: row.acquirer,
    account: { mode: row.mode, accountReference: row.account },
  };
}

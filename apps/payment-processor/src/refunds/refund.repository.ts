import { Inject, Injectable } from '@nestjs/common';
import { type Mode, type PaymentState, RefundFailedV1, type RefundResponse, RefundSucceededV1 } from '@svc/contracts';
import { Clock, isUuid, newUuidAt, type TraceableReferences, traceableReferences } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction, namedStatement, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import { refundReturnTransfer, refundTransfer } from '../ledger/transfer.js';
import { insertTransfersSql, transferRows } from '../ledger/transfer.repository.js';
import { PAYMENT_COLUMNS, PAYMENT_TABLES, snapshotFromRow } from '../payments/payment-columns.js';
import {
  type AcquirerRefundResponse,
  type CaptureProgress,
  conclude,
  nextQueryAt,
  type RefundablePayment,
  type RefundConclusion,
  type RefundState,
} from './refund.js';
import {
  CAPTURE_PROGRESS,
  type LockedRow,
  OPEN_COLUMNS,
  OPEN_JOINS,
  OPEN_TABLES,
  type OpenRow,
  type PaymentToRefundRow,
  REFUND_COLUMNS,
  refundedPayment,
  type RefundRow,
  responseFromRow,
} from './refund.row.js';

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
  /** The acquirer's reference of the refund, if the acquirer has given one. */
  readonly acquirerReference: string | undefined;
  /** A refund is sent only after the charge was captured. */
  readonly capture: CaptureProgress;
  /** When the capture was recorded, also if it failed later. Undefined if the acquirer captures with the charge, and before. */
  readonly capturedAt: Date | undefined;
  /** True when only the acquirer's own report can end the refund. */
  readonly isUncertain: boolean;
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
  /** Cents. The limit for all refunds of the payment together, below what was charged. */
  readonly maxRefundedAmount?: number | undefined;
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
              a.attempt_id AS "attemptId", a.acquirer, a.account, a.acquirer_reference AS "acquirerReference",
              ${CAPTURE_PROGRESS} AS capture
         FROM payments p JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN attempts a ON a.payment_id = p.payment_id AND a.state = 'approved'
         LEFT JOIN captures c ON c.attempt_id = a.attempt_id
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
      maxRefundedAmount: refund.maxRefundedAmount ?? null,
      merchantId: owner.merchantId,
      mode: owner.mode,
      idempotencyKey: refund.idempotencyKey,
      fingerprint: refund.fingerprint,
    });
    const rows = await this.dataSource.query<unknown[]>(CREATE.text, values);
    if (rows.length === 0) return undefined;
    const { paymentReference, currencyISOCode } = payment;
    const charge = { attemptId, chargeReference: acquirerReference, paymentReference, currencyISOCode };
    const { capture } = payment;
    const unsent = { acquirerReference: undefined, capturedAt: undefined, isUncertain: false, queries: 0 };
    return { refundId, ...charge, ...route, ...unsent, capture, amount, createdAt };
  }

  /**
   * Records the acquirer's response about a refund. One transaction ends the refund with all effects: the payment's
   * amounts, the transfer in the ledger and the event. A response that contradicts the row only creates an incident.
   */
  async settle(
    { refundId, queries }: Pick<OpenRefund, 'refundId' | 'queries'>,
    response: AcquirerRefundResponse,
  ): Promise<RefundConclusion & { readonly references: TraceableReferences }> {
    return inTransaction(this.dataSource, async (tx) => {
      const [row] = await tx.query<LockedRow[]>(
        `SELECT CASE WHEN r.returned_at IS NULL THEN r.state ELSE 'returned' END AS refund_state, r.amount AS refund_amount, r.created_at, a.acquirer, ${PAYMENT_COLUMNS}
           FROM ${PAYMENT_TABLES} JOIN refunds r ON r.payment_id = p.payment_id JOIN attempts a ON a.attempt_id = r.attempt_id
          WHERE r.refund_id = $1 FOR UPDATE OF r`,
        [refundId],
      );
      if (!row) throw new Error('The refund to settle was not found.');
      const conclusion = conclude(row.refund_state, response);
      if (conclusion.kind === 'end') await this.end(tx, refundId, row, conclusion);
      if (conclusion.kind === 'return') {
        const { acquirerReference } = conclusion;
        if (row.refund_state === 'pending')
          await this.end(tx, refundId, row, { kind: 'end', state: 'succeeded', acquirerReference });
        await this.return(tx, refundId, row);
      }
      if (conclusion.kind === 'stop') {
        await tx.query(`UPDATE refunds SET uncertain_since = coalesce(uncertain_since, $2) WHERE refund_id = $1`, [
          refundId,
          this.clock.now(),
        ]);
        await this.recordIncident(tx, refundId, row.refund_state, response);
      }
      if (conclusion.kind === 'queryAgain')
        await this.scheduleQuery(tx, refundId, {
          at: nextQueryAt(row.created_at, queries, this.clock.now()),
          acquirerReference: response.kind === 'pending' ? response.acquirerReference : undefined,
        });
      if (conclusion.kind === 'incident') await this.recordIncident(tx, refundId, row.refund_state, response);
      return { ...conclusion, references: traceableReferences(snapshotFromRow(row)) };
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

  /** Books back a refund that had succeeded: its money came back, so it can be refunded again. */
  private async return(tx: Transaction, refundId: string, row: LockedRow): Promise<void> {
    const now = this.clock.now();
    const { paymentId } = row;
    await tx.query(`UPDATE refunds SET state = 'failed', returned_at = $2 WHERE refund_id = $1`, [refundId, now]);
    await tx.query(`UPDATE payments SET refunded_amount = refunded_amount - $2 WHERE payment_id = $1`, [
      paymentId,
      row.refund_amount,
    ]);
    const payment = snapshotFromRow(row);
    const transfers = [refundReturnTransfer(payment, row.acquirer, row.refund_amount)];
    const rows = transferRows(transfers, payment, { paymentId, refundId, createdAt: now }, this.clock);
    await tx.query(insertTransfersSql('$1::jsonb'), [JSON.stringify(rows)]);
    const { refund, ...refunded } = refundedPayment(payment, refundId, 'failed', row);
    await this.events.append(tx, {
      type: RefundFailedV1,
      aggregateId: refundId,
      aggregateVersion: 2,
      payload: { ...refunded, refund: { ...refund, returnedUTCDate: now.toISOString() } },
    });
  }

  private async scheduleQuery(
    tx: Transaction,
    refundId: string,
    { at, acquirerReference }: { readonly at: Date; readonly acquirerReference: string | undefined },
  ): Promise<void> {
    await tx.query(
      `UPDATE refunds SET next_query_at = $2, acquirer_reference = coalesce($3, acquirer_reference) WHERE refund_id = $1`,
      [refundId, at, acquirerReference ?? null],
    );
  }

  /** Records a response that contradicts the refund. One row for each state and response counts the occurrences. */
  private async recordIncident(
    tx: Transaction,
    refundId: string,
    state: RefundState,
    response: AcquirerRefundResponse,
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
   * Makes refunds of a payment due that were not received yet, because the outcome of its capture is known. A refund that
   * has ended has a reference.
   */
  async wake(paymentId: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE refunds SET next_query_at = $2 WHERE payment_id = $1 AND acquirer_reference IS NULL`,
      [paymentId, this.clock.now()],
    );
  }

  /** Finds the refund that an acquirer reports. Undefined for a refund at another acquirer, mode or account. */
  async findForReport(
    refundId: string,
    { acquirer, account }: ChargeRoute,
  ): Promise<Pick<OpenRefund, 'refundId' | 'paymentReference' | 'queries'> | undefined> {
    if (!isUuid(refundId)) return undefined;
    const [row] = await this.dataSource.query<{ refundId: string; paymentReference: string; queries: number }[]>(
      `SELECT r.refund_id AS "refundId", r.queries, p.payment_reference AS "paymentReference"
         FROM refunds r JOIN attempts a ON a.attempt_id = r.attempt_id JOIN payments p ON p.payment_id = r.payment_id
         JOIN payables y ON y.payable_id = p.payable_id
        WHERE r.refund_id = $1 AND a.acquirer = $2 AND a.account = $3 AND y.mode = $4`,
      [refundId, acquirer, account.accountReference, account.mode],
    );
    return row;
  }

  /**
   * Leases due pending refunds of this acquirer, each to one caller. `leaseUntil` becomes the next due time, so that another caller can
   * continue if this caller crashes.
   */
  async leaseDue(acquirer: string, leaseUntil: Date, limit: number): Promise<OpenRefund[]> {
    const [rows] = await this.dataSource.query<[OpenRow[], number]>(
      `UPDATE refunds r SET queries = r.queries + 1, next_query_at = $2
         FROM (SELECT d.refund_id FROM refunds d JOIN attempts c ON c.attempt_id = d.attempt_id
                WHERE d.next_query_at <= $1 AND c.acquirer = $4
                ORDER BY d.next_query_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED) due,
              ${OPEN_TABLES}
        WHERE r.refund_id = due.refund_id AND ${OPEN_JOINS}
        RETURNING ${OPEN_COLUMNS}`,
      [this.clock.now(), leaseUntil, limit, acquirer],
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
          WHERE payment_id = $paymentId
            AND refunded_amount + refund_pending_amount + $amount <= LEAST(processed_amount, $maxRefundedAmount::bigint)
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

function openRefundFromRow(row: OpenRow): OpenRefund {
  return {
    refundId: row.refund_id,
    attemptId: row.attempt_id,
    chargeReference: row.acquirer_reference,
    acquirerReference: row.refund_acquirer_reference ?? undefined,
    capture: row.capture,
    capturedAt: row.captured_at ?? undefined,
    isUncertain: row.is_uncertain,
    paymentReference: row.payment_reference,
    amount: row.amount,
    currencyISOCode: row.currency,
    createdAt: row.created_at,
    queries: row.queries,
    acquirer: row.acquirer,
    account: { mode: row.mode, accountReference: row.account },
  };
}

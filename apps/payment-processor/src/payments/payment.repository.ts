import { Inject, Injectable } from '@nestjs/common';
import {
  type PayableDescriptor,
  type PayableSource,
  PaymentFailedV1,
  PaymentProcessingV1,
  type AnyPaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog, type EventStatement } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { type AttemptEnd, type AttemptState, nextAskAt } from './attempt.js';
import type { OpenAttempt } from './attempt.repository.js';
import { captureAccounts, type Transfer, voucherTransfers } from './ledger.js';
import { settledPayment } from './payment.js';
import { asSnapshot, PAYMENT_COLUMNS, type PaymentRow } from './payment-snapshot.js';

/**
 * The only place that reads and writes payments. Accepting a payment and recording its outcome are one statement
 * each: payable, payment, attempt, ledger and event change together or not at all, in one round trip.
 */
@Injectable()
export class PaymentRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Wins `open → reserved` and records payment and attempt, or changes nothing and returns undefined. The payable
   * need not be known yet: the payment may have overtaken `session.created`. Payment and event have the merchant's name and
   * the site's reference as they are now.
   */
  async accept(
    payable: PayableDescriptor<PayableSource>,
    payment: AnyPaymentSnapshot,
    acquirer: string,
  ): Promise<OpenAttempt | undefined> {
    const [paymentId, attemptId] = [newUuid(this.clock), newUuid(this.clock)];
    // One time for row and event: a moment later the two would tell of different paymentUTCDates.
    const startedAt = new Date(payment.paymentUTCDate);
    const event = this.events.statement('$18', [
      { type: PaymentProcessingV1, aggregateId: paymentId, aggregateVersion: 1, payload: payment },
    ]);
    const [row] = await this.dataSource.query<AcceptedRow[]>(acceptStatement(event), [
      payable.payableId,
      payable.mode,
      payable.merchantId,
      payable.siteId,
      payable.amount,
      payable.currencyISOCode,
      payable.expiresAt,
      payable.triesMax,
      payable.source,
      paymentId,
      startedAt,
      payment.payable.tries,
      payment.reference,
      payment.paymentReference,
      payment.paymentMethodLabel,
      attemptId,
      acquirer,
      event.parameter,
      nextAskAt(startedAt, 0, startedAt),
    ]);
    if (!row) return undefined;
    event.committed();
    const accepted = {
      ...payment,
      ...(row.merchantName === null ? {} : { merchantName: row.merchantName }),
      ...(row.siteReference === null ? {} : { siteReference: row.siteReference }),
      payable: { ...payment.payable, version: row.version },
    };
    const { triesMax } = payable;
    const attempt = { attemptId, acquirer, state: 'started', startedAt, asked: 0 } as const;
    return { ...attempt, paymentId, paymentVersion: 1, triesMax, payment: accepted };
  }

  /**
   * Records how an attempt ended, with everything that follows from it. Undefined, and nothing changes, when the attempt
   * is in none of the states of `from`.
   */
  async settle(
    open: OpenAttempt,
    end: AttemptEnd,
    from: readonly AttemptState[],
  ): Promise<AnyPaymentSnapshot | undefined> {
    const now = this.clock.now();
    const settled = settledPayment(open.payment, end.settlement, open.triesMax, now);
    const event = this.events.statement('$14', [
      {
        type: EVENT_OF[end.settlement.state],
        aggregateId: open.paymentId,
        aggregateVersion: open.paymentVersion + 1,
        payload: settled,
      },
    ]);
    const verification = end.settlement.state === 'verificationRequired' ? end.settlement.challenge : undefined;
    const accounts = captureAccounts(open.payment, open.acquirer);
    const vouchers = settled.state === 'success' ? voucherTransfers(settled) : [];
    const [row] = await this.dataSource.query<unknown[]>(
      `WITH target AS (
         SELECT a.attempt_id, a.payment_id, p.payable_id
           FROM attempts a JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
          WHERE a.attempt_id = $1 AND a.state = ANY ($16) AND p.state = 'processing'
            AND y.holder = a.payment_id AND y.version = $2
            FOR UPDATE OF a, p, y
       ), attempt AS (
         UPDATE attempts a SET state = $3, acquirer_reference = $4, ended_at = $5, next_ask_at = NULL
           FROM target WHERE a.attempt_id = target.attempt_id
       ), payment AS (
         UPDATE payments p SET state = $6, processed_amount = $7, errors = $8, modified_at = $5, version = p.version + 1
           FROM target WHERE p.payment_id = target.payment_id
       ), payable AS (
         UPDATE payables y SET state = $9, holder = CASE WHEN $9 = 'paid' THEN y.holder END, version = $10, modified_at = $5
           FROM target WHERE y.payable_id = target.payable_id
       ), transfer AS (
         INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, payment_id, created_at)
         SELECT $11, 'capture', $12, $13, $7, $15, payment_id, $5 FROM target WHERE $7::bigint > 0
       ), ${verification ? `${OPEN_VERIFICATION}, ` : ''}${vouchers.length > 0 ? `${recordTransfers('$17', '$15', '$5')}, ` : ''}logged AS (
         INSERT INTO event_log ${event.columns}
         SELECT event.id, event.type, event.aggregate_id, event.aggregate_version, event.occurred_at, event.traceparent, event.payload
           FROM target, ${event.rows}
       )
       SELECT attempt_id FROM target`,
      [
        open.attemptId,
        open.payment.payable.version,
        end.state,
        end.acquirerReference ?? null,
        now,
        settled.state,
        settled.processedAmount,
        JSON.stringify(settled.errors),
        settled.payable.state,
        settled.payable.version,
        newUuid(this.clock),
        accounts.debit,
        accounts.credit,
        event.parameter,
        settled.currencyISOCode,
        from,
        ...(vouchers.length > 0 ? [this.transferRows(vouchers)] : []),
        ...(verification ? [verification.reference, verification.url, settled.verificationUntilUTCDate] : []),
      ],
    );
    if (!row) return undefined;
    event.committed();
    return settled;
  }

  /** Parameter of {@link recordTransfers}. */
  transferRows(transfers: readonly Transfer[]): string {
    return JSON.stringify(transfers.map((transfer) => ({ ...transfer, id: newUuid(this.clock) })));
  }

  /** The payment of this payable that the client calls `reference`, in its present state. */
  async find(payableId: string, reference: string): Promise<AnyPaymentSnapshot | undefined> {
    const [row] = await this.dataSource.query<PaymentRow[]>(
      `SELECT ${PAYMENT_COLUMNS} FROM payments p JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN verifications v ON v.payment_id = p.payment_id
        WHERE p.payable_id = $1 AND p.reference = $2`,
      [payableId, reference],
    );
    return row && asSnapshot(row);
  }

  /** All payments of a payable, newest first; by id alone, as {@link PayableRepository.find}. */
  async findAll(payableId: string): Promise<AnyPaymentSnapshot[]> {
    const rows = await this.dataSource.query<PaymentRow[]>(
      `SELECT ${PAYMENT_COLUMNS} FROM payments p JOIN payables y ON y.payable_id = p.payable_id
         LEFT JOIN verifications v ON v.payment_id = p.payment_id
        WHERE p.payable_id = $1 ORDER BY p.accepted_at DESC LIMIT 100`,
      [payableId],
    );
    return rows.map(asSnapshot);
  }
}

/** The statement of {@link PaymentRepository.accept}. */
function acceptStatement(event: EventStatement): string {
  return `WITH payable AS (
         INSERT INTO payables AS p (payable_id, mode, merchant_id, site_id, amount, currency, expires_at, tries_max, source,
                                    state, holder, tries, version, created_at, modified_at)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, 'reserved', $10, 1, 2, $11, $11
          WHERE $7::timestamptz > $11 AND ($12::int = 1 OR EXISTS (SELECT 1 FROM payables known WHERE known.payable_id = $1))
         ON CONFLICT (payable_id) DO UPDATE
            SET state = 'reserved', holder = $10, tries = p.tries + 1, version = p.version + 1, modified_at = $11
          WHERE p.state = 'open' AND p.expires_at > $11 AND p.tries = $12 - 1 AND p.tries < p.tries_max
            AND (p.mode, p.merchant_id, p.site_id, p.amount, p.currency)
              = (excluded.mode, excluded.merchant_id, excluded.site_id, excluded.amount, excluded.currency)
         RETURNING payable_id, version
       ), merchant AS (
         SELECT (SELECT name FROM known_merchants WHERE merchant_id = $3) AS name,
                (SELECT site_reference FROM known_sites WHERE merchant_id = $3 AND site_id = $4) AS site_reference
       ), payment AS (
         INSERT INTO payments (payment_id, payable_id, reference, payment_reference, state, amount, tip_amount, processed_amount,
                               method_label, errors, accepted_at, modified_at, version, merchant_name, site_reference)
         SELECT $10, payable_id, $13, $14, 'processing', $5, 0, 0, $15, '[]', $11, $11, 1, merchant.name, merchant.site_reference
           FROM payable, merchant
       ), attempt AS (
         INSERT INTO attempts (attempt_id, payment_id, acquirer, state, started_at, asked, next_ask_at)
         SELECT $16, $10, $17, 'started', $11, 0, $19 FROM payable
       ), logged AS (
         INSERT INTO event_log ${event.columns}
         SELECT event.id, event.type, event.aggregate_id, event.aggregate_version, event.occurred_at, event.traceparent,
                jsonb_set(event.payload, '{payable,version}', to_jsonb(payable.version))
                  || jsonb_strip_nulls(jsonb_build_object('merchantName', merchant.name, 'siteReference', merchant.site_reference))
           FROM payable, merchant, ${event.rows}
       )
       SELECT version, name AS "merchantName", site_reference AS "siteReference" FROM payable, merchant`;
}

interface AcceptedRow {
  readonly version: number;
  readonly merchantName: string | null;
  readonly siteReference: string | null;
}

const EVENT_OF = {
  success: PaymentSucceededV1,
  failed: PaymentFailedV1,
  verificationRequired: PaymentVerificationRequiredV1,
} as const;

const OPEN_VERIFICATION = `verification AS (
         INSERT INTO verifications (payment_id, challenge_reference, challenge_url, expires_at, open)
         SELECT payment_id, $17, $18, $19, true FROM target
         ON CONFLICT (payment_id) DO UPDATE
            SET challenge_reference = excluded.challenge_reference, challenge_url = excluded.challenge_url,
                expires_at = excluded.expires_at, open = true, asked_at = NULL,
                next_ask_at = NULL
       )`;

/** Part of a statement whose `target` is the payment: writes rows of {@link PaymentRepository.transferRows} into the ledger. */
export function recordTransfers(rows: string, currency: string, at: string): string {
  return `recorded AS (
         INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, payment_id, created_at)
         SELECT transfer.id, transfer.kind, transfer.debit, transfer.credit, transfer.amount, ${currency}, payment_id, ${at}
           FROM target, jsonb_to_recordset(${rows}::jsonb) AS transfer(id uuid, kind text, debit text, credit text, amount bigint)
       )`;
}

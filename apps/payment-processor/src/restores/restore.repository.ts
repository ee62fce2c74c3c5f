import { Inject, Injectable } from '@nestjs/common';
import type { ReportedPayment } from '@svc/contracts';
import { Clock, findUuidTime, newUuid } from '@svc/kernel';
import { namedStatement, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { insertAttempts, insertPayments, joinMerchant, siteReferenceOf } from '../payments/accept-payment.query.js';
import { rowFromAttempt } from '../payments/attempt.repository.js';
import { FIRST_NEW_VERSION } from '../restore-gate/unfinished-payment.repository.js';
import type { ForgottenMovement } from './forgotten-charges/forgotten-movement.js';

/** Restores, and the rows that replace forgotten payments and refunds. */
@Injectable()
export class RestoreRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The keys among these that belong to attempts, refunds or charges that are reversed. The keys are UUIDs. */
  async findKnownKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ key: string }[]>(
      `SELECT attempt_id::text AS key FROM attempts WHERE attempt_id = ANY ($1::uuid[])
       UNION ALL SELECT refund_id::text FROM refunds WHERE refund_id = ANY ($1::uuid[])
       UNION ALL SELECT charge_id::text FROM forgotten_charges WHERE charge_id = ANY ($1::uuid[])`,
      [keys],
    );
    return new Set(rows.map(({ key }) => key));
  }

  /** The payments of all merchants among these: a bank's statement is not of one merchant. */
  async findKnownPayments(paymentReferences: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ reference: string }[]>(
      `SELECT payment_reference AS reference FROM payments WHERE payment_reference = ANY ($1)`,
      [paymentReferences],
    );
    return new Set(rows.map(({ reference }) => reference));
  }

  /**
   * Records a payment as accepted, with an attempt of unknown outcome under the key of the forgotten attempt. The recovery
   * job queries the bank and records the outcome as of any other attempt: with the ledger, the event and the notification.
   * False, without any change, when the payable is not open or differs. The fee is that of the merchant's current terms.
   */
  async recordCharge(tx: Transaction, { line, route }: ForgottenMovement, report: ReportedPayment): Promise<boolean> {
    const now = this.clock.now();
    const paymentId = newUuid(this.clock);
    const { mode, merchantId, siteId, invoicedAmount, currencyISOCode, amount, tipAmount } = report;
    const payment = {
      ...{ paymentId, payableId: report.payableId, reference: report.reference, amount, tipAmount },
      ...{ paymentReference: report.paymentReference, state: 'processing', voucherAmount: 0, processedAmount: 0 },
      ...{ paymentMethodType: 'Card', paymentMethodLabel: report.paymentMethodLabel, partner: null, errors: [] },
      ...{ acceptedAt: report.paymentUTCDate, modifiedAt: now, version: FIRST_NEW_VERSION },
    };
    const attempt = rowFromAttempt(paymentId, {
      ...{ attemptId: line.idempotencyKey, ...route, state: 'unknown', startedAt: now, queries: 0 },
      velocityKeys: undefined,
    });
    const values = RECORD_CHARGE.valuesOf({
      ...{ paymentId, payableId: report.payableId, payableVersion: report.payableVersion, now },
      ...{ paymentCount: report.paymentCount, mode, merchantId, siteId, invoicedAmount, currency: currencyISOCode },
      payment: JSON.stringify(payment),
      attempt: JSON.stringify({ ...attempt, nextQueryAt: now }),
    });
    const rows = await tx.query<unknown[]>(RECORD_CHARGE.text, values);
    return rows.length > 0;
  }

  /**
   * Records a refund as pending, under the key of the forgotten refund, and reserves its amount. The recovery job queries
   * the bank and records the outcome. False, without any change, when no successful payment with this charge has enough left.
   */
  async recordRefund(tx: Transaction, { line, route }: ForgottenMovement, restoreId: string): Promise<boolean> {
    const values = RECORD_REFUND.valuesOf({
      ...{ refundId: line.idempotencyKey, amount: line.amount, restoreId, now: this.clock.now() },
      ...{ paymentReference: line.paymentReference, currency: line.currencyISOCode, acquirer: route.acquirer },
      ...{ account: route.account.accountReference, mode: route.account.mode },
      // The id and the time of creation have the same millisecond (ADR 44).
      createdAt: findUuidTime(line.idempotencyKey) ?? new Date(line.movedUTCDate),
    });
    const rows = await tx.query<unknown[]>(RECORD_REFUND.text, values);
    return rows.length > 0;
  }

  /** Stores the end of a comparison with the bank. */
  async markRepaired(tx: Transaction, restoreId: string, unresolved: number): Promise<void> {
    await tx.query(`UPDATE restore_repairs SET repaired_at = $2, unresolved = $3 WHERE restore_id = $1`, [
      ...[restoreId, this.clock.now(), unresolved],
    ]);
  }
}

const RECORD_CHARGE = namedStatement(`WITH payable AS (
         UPDATE payables SET state = 'reserved', holder = $paymentId, payment_count = greatest(payment_count, $paymentCount::int),
                             version = greatest(version, $payableVersion::bigint) + 1, modified_at = $now
          WHERE payable_id = $payableId AND state = 'open' AND payment_count < $paymentCount::int AND $paymentCount::int <= max_payments
            AND (mode, merchant_id, site_id, amount, currency)
              = ($mode::text, $merchantId::bigint, $siteId::bigint, $invoicedAmount::bigint, $currency::text)
         RETURNING mode, merchant_id AS "merchantId", site_id AS "siteId", source
       ), named AS (
         SELECT merchant.*, ${siteReferenceOf('payable')} AS "siteReference"
           FROM payable ${joinMerchant('payable.mode', 'payable."merchantId"')}
       ), payment AS (
         ${insertPayments(
           'named',
           `$payment::jsonb || jsonb_build_object('merchantName', "merchantName", 'siteReference', "siteReference",
              'feeBasisPoints', "feeBasisPoints", 'feeFixedAmount', "feeFixedAmount")`,
         )}
       ), attempt AS (
         ${insertAttempts('named', '$attempt::jsonb')}
       )
       SELECT 1 FROM named`);

const RECORD_REFUND = namedStatement(`WITH reserved AS (
         UPDATE payments p SET refund_pending_amount = refund_pending_amount + $amount::bigint
           FROM attempts a, payables y
          WHERE p.payment_reference = $paymentReference AND p.state = 'success'
            AND a.payment_id = p.payment_id AND a.state = 'approved' AND a.acquirer = $acquirer AND a.account = $account
            AND y.payable_id = p.payable_id AND y.mode = $mode AND y.currency = $currency
            AND p.refunded_amount + p.refund_pending_amount + $amount <= p.processed_amount
         RETURNING p.payment_id, a.attempt_id
       )
       INSERT INTO refunds (refund_id, payment_id, attempt_id, amount, requested_by, state, created_at, queries, next_query_at)
       SELECT $refundId, payment_id, attempt_id, $amount, $restoreId, 'pending', $createdAt, 0, $now FROM reserved
       RETURNING refund_id`);

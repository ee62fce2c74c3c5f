import { Inject, Injectable } from '@nestjs/common';
import type { DisputedPayment, EventEnvelope, PaymentSnapshot, RefundedPayment } from '@svc/contracts';
import {
  type ColumnMap,
  excludedColumns,
  insertedColumns,
  recordColumns,
  recordValues,
  toRecord,
} from '@svc/persistence';
import { DataSource } from 'typeorm';
import { type ConsolePayment, toConsolePayment } from './console-payment.js';

/** The columns of a payment that a page shows. */
export const PAYMENT_COLUMNS: ColumnMap<keyof ConsolePayment> = {
  paymentReference: ['payment_reference', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  mode: ['mode', 'text'],
  siteId: ['site_id', 'bigint'],
  siteReference: ['site_reference', 'text'],
  paymentUTCDate: ['payment_utc_date', 'timestamptz'],
  modifiedUTCDate: ['modified_utc_date', 'timestamptz'],
  state: ['state', 'text'],
  currency: ['currency', 'text'],
  amount: ['amount', 'bigint'],
  tipAmount: ['tip_amount', 'bigint'],
  processedAmount: ['processed_amount', 'bigint'],
  method: ['method', 'text'],
  methodLabel: ['method_label', 'text'],
  lastDigits: ['last_digits', 'text'],
  orderReference: ['order_reference', 'text'],
  payableId: ['payable_id', 'uuid'],
  source: ['source', 'text'],
  code: ['code', 'text'],
  isOfPartner: ['is_of_partner', 'boolean'],
  customerId: ['customer_id', 'text'],
  customerName: ['customer_name', 'text'],
  errors: ['errors', 'jsonb'],
};
const PAYMENT: ColumnMap = { ...PAYMENT_COLUMNS, version: ['version', 'bigint'] };
const REFUND: ColumnMap = {
  refundReference: ['refund_reference', 'uuid'],
  version: ['version', 'bigint'],
  paymentReference: ['payment_reference', 'text'],
  amount: ['amount', 'bigint'],
  status: ['status', 'text'],
  createdUTCDate: ['created_utc_date', 'timestamptz'],
  returnedUTCDate: ['returned_utc_date', 'timestamptz'],
};
const VERIFICATION: ColumnMap = {
  paymentReference: ['payment_reference', 'text'],
  askedUTCDate: ['asked_utc_date', 'timestamptz'],
};
const REVERSAL: ColumnMap = {
  paymentReference: ['payment_reference', 'text'],
  reversedUTCDate: ['reversed_utc_date', 'timestamptz'],
  amount: ['amount', 'bigint'],
  captureFailed: ['capture_failed', 'boolean'],
};
const DISPUTE: ColumnMap = {
  disputeReference: ['dispute_reference', 'uuid'],
  version: ['version', 'bigint'],
  paymentReference: ['payment_reference', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  mode: ['mode', 'text'],
  siteId: ['site_id', 'bigint'],
  stage: ['stage', 'text'],
  amount: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  reason: ['reason', 'text'],
  respondByUTCDate: ['respond_by', 'timestamptz'],
  createdUTCDate: ['created_utc_date', 'timestamptz'],
  changedUTCDate: ['changed_utc_date', 'timestamptz'],
};

type Events<Payload> = readonly EventEnvelope<Payload>[];
/** The merchant and mode to whose lists a payment belongs. */
type ListOwner = Pick<PaymentSnapshot, 'merchantId' | 'mode'>;

/**
 * Stores payments with their verifications, refunds, reversals and disputes, and counts the changes of each merchant's
 * lists. Each method is one statement. Events may come repeatedly,
 * late and in any order, also to several replicas at once: an older version changes nothing, and rows are locked in a
 * fixed order.
 */
@Injectable()
export class PaymentRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  async upsertPayments(events: Events<PaymentSnapshot>): Promise<void> {
    await this.write(
      UPSERT_PAYMENTS,
      events,
      events.flatMap(({ payload, aggregateVersion }) => {
        const payment = toConsolePayment(payload);
        return payment === undefined ? [] : [toRecord(PAYMENT, { ...payment, version: aggregateVersion })];
      }),
    );
  }

  /** The payment in its newest version no longer shows that the bank asked for a confirmation. */
  async insertVerifications(events: Events<PaymentSnapshot>): Promise<void> {
    await this.write(
      INSERT_VERIFICATIONS,
      events,
      events
        .filter(({ payload }) => payload.state === 'verificationRequired')
        .map(({ payload: { paymentReference, modifiedUTCDate } }) =>
          toRecord(VERIFICATION, { paymentReference, askedUTCDate: modifiedUTCDate }),
        ),
    );
  }

  async upsertRefunds(events: Events<RefundedPayment>): Promise<void> {
    await this.write(
      UPSERT_REFUNDS,
      events,
      events.map(({ payload: { refund, paymentReference }, aggregateVersion }) =>
        toRecord(REFUND, { ...refund, paymentReference, version: aggregateVersion }),
      ),
    );
  }

  async insertReversals(events: Events<PaymentSnapshot>): Promise<void> {
    await this.write(
      INSERT_REVERSALS,
      events,
      events.map(({ payload: { paymentReference, reversedUTCDate, amount, tipAmount, captureFailed } }) =>
        toRecord(REVERSAL, {
          paymentReference,
          reversedUTCDate,
          amount: amount + tipAmount,
          captureFailed: captureFailed ?? false,
        }),
      ),
    );
  }

  async upsertDisputes(events: Events<DisputedPayment>): Promise<void> {
    await this.write(
      UPSERT_DISPUTES,
      events,
      events.map(({ payload, aggregateVersion: version }) => {
        const { dispute, paymentReference, merchantId, mode, siteId, currencyISOCode: currency } = payload;
        return toRecord(DISPUTE, { ...dispute, paymentReference, merchantId, mode, siteId, currency, version });
      }),
    );
  }

  private async write(statement: string, events: Events<ListOwner>, rows: readonly object[]): Promise<void> {
    if (rows.length === 0) return;
    const owners = events.map(({ payload: { merchantId, mode } }) => ({ merchantId, mode }));
    await this.dataSource.query(`WITH counted AS (${COUNT_CHANGES}) ${statement}`, [
      JSON.stringify(rows),
      JSON.stringify(owners),
    ]);
  }
}

/**
 * $2: the merchants and modes of the rows as JSON. Committed with the rows, so that a reader of a count reads at least
 * the rows that it counts. PostgreSQL runs it after the rows are written: all replicas lock rows, then counts.
 */
const COUNT_CHANGES = `
  INSERT INTO list_changes (merchant_id, mode, changes)
  SELECT DISTINCT o."merchantId", o.mode, 1 FROM jsonb_to_recordset($2::jsonb) AS o ("merchantId" bigint, mode text)
   ORDER BY 1, 2
  ON CONFLICT (merchant_id, mode) DO UPDATE SET changes = list_changes.changes + 1`;

/**
 * $1: the rows as JSON. Writes the newest version of each row to the serving generation and to the generation that is
 * being built.
 *
 * @param key the property that identifies a row
 */
function upsertNewest(table: string, map: ColumnMap, key: string): string {
  const [keyColumn] = map[key]!;
  return `
  INSERT INTO ${table} (generation, ${insertedColumns(map)})
  SELECT g.generation, ${recordValues(map, 'r')}
    FROM (SELECT DISTINCT ON ("${key}") * FROM jsonb_to_recordset($1::jsonb) AS r (${recordColumns(map)})
           ORDER BY "${key}", version DESC) AS r
   CROSS JOIN generations g
   WHERE g.state IN ('serving', 'building') ORDER BY g.generation, r."${key}"
  ON CONFLICT (generation, ${keyColumn}) DO UPDATE SET ${excludedColumns(map)}
   WHERE ${table}.version < excluded.version`;
}

const UPSERT_PAYMENTS = upsertNewest('payments', PAYMENT, 'paymentReference');
const UPSERT_REFUNDS = upsertNewest('refunds', REFUND, 'refundReference');
const UPSERT_DISPUTES = upsertNewest('disputes', DISPUTE, 'disputeReference');

/** $1: the rows as JSON, which never change. */
function insertAbsent(table: string, map: ColumnMap, order: string): string {
  return `
  INSERT INTO ${table} (generation, ${insertedColumns(map)})
  SELECT g.generation, ${recordValues(map, 'r')}
    FROM jsonb_to_recordset($1::jsonb) AS r (${recordColumns(map)})
   CROSS JOIN generations g
   WHERE g.state IN ('serving', 'building') ORDER BY g.generation, ${order}
  ON CONFLICT DO NOTHING`;
}

const INSERT_REVERSALS = insertAbsent('reversals', REVERSAL, 'r."paymentReference", r."reversedUTCDate"');
const INSERT_VERIFICATIONS = insertAbsent('verifications', VERIFICATION, 'r."paymentReference", r."askedUTCDate"');

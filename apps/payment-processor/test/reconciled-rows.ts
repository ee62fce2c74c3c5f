/** Rows for tests of the reconciliation. They are inserted directly, so that a test chooses their times and states. */
import { randomUUID } from 'node:crypto';
import { newUuidAt } from '@svc/kernel';
import type { Processor } from './processor.js';

/** A range of time, with the times around its bounds. A range includes its first millisecond and excludes `until`. */
export const RANGE = { from: '2026-03-01T08:00:00.000Z', until: '2026-03-01T09:00:00.000Z' };
export const BOUNDARY_TIMES = [
  '2026-03-01T07:59:59.999Z',
  RANGE.from,
  '2026-03-01T08:59:59.999Z',
  RANGE.until,
] as const;
/** The default time of all rows. */
export const EARLY = '2026-03-01T08:10:00.000Z';
export const BEFORE_WATERMARK = '2026-03-01T08:29:59.999Z';
/** Rows that became final at this time or later are open, which means that they are not compared. */
export const WATERMARK = '2026-03-01T08:30:00.000Z';

type Row = Readonly<Record<string, unknown>>;

export interface StoredPayment {
  readonly paymentId: string;
  readonly paymentReference: string;
}

let nextMerchantId = 70_000;

/** Inserts rows of a new merchant, so that a test can choose all their times and states. */
export class ReconciledMerchant {
  readonly owner = { merchantId: nextMerchantId++, mode: 'test' } as const;

  constructor(private readonly processor: Processor) {}

  async insertPayment(row: Row = {}, payable: Row = {}): Promise<StoredPayment> {
    const [paymentId, payableId] = [randomUUID(), randomUUID()];
    const paymentReference = `ref-${paymentId}`;
    const { state = 'success' } = row;
    await this.insert('payables', {
      ...{ payable_id: payableId, mode: 'test', merchant_id: this.owner.merchantId, site_id: 5001 },
      ...{ amount: 100, currency: 'ZAR', expires_at: EARLY, max_payments: 100, payment_count: 1, version: 1 },
      ...{ source: { kind: 'session', sessionId: payableId, merchantOrderId: 'order-1' }, state: 'closed' },
      ...{ created_at: EARLY, modified_at: EARLY, ...payable },
    });
    await this.insert('payments', {
      ...{ payment_id: paymentId, payable_id: payableId, reference: randomUUID(), payment_reference: paymentReference },
      ...{
        state,
        amount: 100,
        tip_amount: 0,
        voucher_amount: 0,
        fee_basis_points: 0,
        fee_fixed_amount: 0,
        method_type: 'Card',
        merchant_name: 'Karoo Books',
        site_reference: 'WEB',
        processed_amount: state === 'success' ? 100 : 0,
        method_label: '**** 1111',
      },
      ...{ errors: JSON.stringify(state === 'failed' ? [{ code: 'x' }] : []), accepted_at: EARLY, modified_at: EARLY },
      ...{ version: 1, ...row },
    });
    return { paymentId, paymentReference };
  }

  async insertAttempt({ paymentId }: StoredPayment, row: Row = {}): Promise<string> {
    const attemptId = randomUUID();
    const { state = 'approved' } = row;
    const isOpen = ['started', 'unknown', 'reversing'].includes(String(state));
    await this.insert('attempts', {
      ...{
        attempt_id: attemptId,
        payment_id: paymentId,
        acquirer: 'simulated',
        account: 'account-1',
        state,
        queries: 0,
      },
      ...{ acquirer_reference: 'bank-1', started_at: EARLY, ended_at: isOpen ? null : EARLY },
      ...{ next_query_at: isOpen ? EARLY : null, ...row },
    });
    return attemptId;
  }

  /** Inserts a refund, with an id that contains the time of its creation. */
  async insertRefund({ paymentId }: StoredPayment, attemptId: string, row: Row = {}): Promise<string> {
    const { state = 'succeeded', created_at: createdAt = EARLY } = row;
    const refundId = newUuidAt(new Date(String(createdAt)));
    const isPending = state === 'pending';
    await this.insert('refunds', {
      ...{ refund_id: refundId, payment_id: paymentId, attempt_id: attemptId, amount: 10, requested_by: randomUUID() },
      ...{ state, acquirer_reference: 'bank-2', created_at: createdAt, ended_at: isPending ? null : EARLY, queries: 0 },
      ...{ next_query_at: isPending ? EARLY : null, ...row },
    });
    return refundId;
  }

  /** Inserts the reversal of a late approval. It is confirmed unless `confirmed_at` is null. */
  async insertReversal(attemptId: string, row: Row = {}): Promise<void> {
    const { confirmed_at: confirmedAt = EARLY } = row;
    await this.insert('reversals', {
      ...{
        attempt_id: attemptId,
        requested_at: EARLY,
        confirmed_at: confirmedAt,
        holds_money: true,
        approval_seen: true,
      },
      ...{
        found_charge: confirmedAt === null ? null : true,
        next_request_at: confirmedAt === null ? EARLY : null,
        ...row,
      },
    });
  }

  /** Inserts a dispute with one report that was booked. Returns the id and the reference of the report. */
  async insertDispute(
    { paymentId }: StoredPayment,
    attemptId: string,
    row: Row = {},
  ): Promise<{ readonly disputeId: string; readonly reportId: string; readonly reportReference: string }> {
    const [disputeId, reportId, reportReference] = [randomUUID(), randomUUID(), `report-${randomUUID()}`];
    const shared = { dispute_id: disputeId, acquirer: 'simulated', mode: 'test', amount: 10, reason: '10.4' };
    await this.insert('disputes', {
      ...{ ...shared, payment_id: paymentId, attempt_id: attemptId, acquirer_reference: `dispute-${disputeId}` },
      ...{ stage: 'debited', created_at: EARLY, modified_at: EARLY, version: 1 },
    });
    await this.insert('dispute_reports', {
      ...{ ...shared, report_id: reportId, report_reference: reportReference, kind: 'debited', occurred_at: EARLY },
      ...{ received_at: EARLY, booked_at: EARLY, ...row },
    });
    return { disputeId, reportId, reportReference };
  }

  /** Inserts a change of a dispute, with an id that contains its time. */
  async insertDisputeChange(disputeId: string, row: Row = {}): Promise<string> {
    const { changed_at: changedAt = EARLY } = row;
    const changeId = newUuidAt(new Date(String(changedAt)));
    await this.insert('dispute_changes', {
      ...{ change_id: changeId, dispute_id: disputeId, version: 1, stage: 'debited', amount: 10, reason: '10.4' },
      ...{ changed_at: changedAt, ...row },
    });
    return changeId;
  }

  async insert(table: string, row: Row): Promise<void> {
    const [columns, values] = [Object.keys(row), Object.values(row)];
    await this.processor.dataSource.query(
      `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map((_, index) => `$${index + 1}`).join()})`,
      values,
    );
  }
}

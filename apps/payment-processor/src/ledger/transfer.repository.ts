import type { Mode, PaymentSnapshot } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import { type ColumnMap, insertedColumns, recordColumns, recordValues, selectedColumns } from '@svc/persistence';
import type { Transfer } from './transfer.js';

/** A row of the ledger. */
export interface TransferRow extends Transfer {
  readonly transferId: string;
  readonly currencyISOCode: string;
  readonly mode: Mode;
  readonly merchantId: number;
  /** Null for fees and payouts of an acquirer that belong to no payment. */
  readonly paymentId: string | null;
  /** Only of a late approval and its reversal. */
  readonly attemptId?: string | null;
  /** Only of a refund. */
  readonly refundId?: string | null;
  /** Only of a dispute: the report of the acquirer that moved the money. */
  readonly disputeReportId?: string | null;
  /** Only of a fee or a payout of an acquirer. */
  readonly settlementLineId?: string | null;
  /** Only of a charge that a restore has forgotten, and of its reversal. */
  readonly forgottenChargeId?: string | null;
  /** ISO 8601 UTC, or a Date. */
  readonly createdAt: string | Date;
}

const TRANSFER_MAP: ColumnMap<keyof TransferRow> = {
  transferId: ['transfer_id', 'uuid'],
  kind: ['kind', 'text'],
  debit: ['debit_account', 'text'],
  credit: ['credit_account', 'text'],
  amount: ['amount', 'bigint'],
  currencyISOCode: ['currency', 'text'],
  mode: ['mode', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  paymentId: ['payment_id', 'uuid'],
  attemptId: ['attempt_id', 'uuid'],
  refundId: ['refund_id', 'uuid'],
  disputeReportId: ['dispute_report_id', 'uuid'],
  settlementLineId: ['settlement_line_id', 'uuid'],
  forgottenChargeId: ['forgotten_charge_id', 'uuid'],
  createdAt: ['created_at', 'timestamptz'],
};

/** The rows of a payment's transfers, with the attempt, refund or report of a dispute that caused them. */
export function transferRows(
  transfers: readonly Transfer[],
  { currencyISOCode, mode, merchantId }: Pick<PaymentSnapshot, 'currencyISOCode' | 'mode' | 'merchantId'>,
  columns: Pick<
    TransferRow,
    'paymentId' | 'attemptId' | 'refundId' | 'disputeReportId' | 'forgottenChargeId' | 'createdAt'
  >,
  clock: Clock,
): TransferRow[] {
  return transfers.map((transfer) => ({
    ...transfer,
    transferId: newUuid(clock),
    ...{ currencyISOCode, mode, merchantId },
    ...columns,
  }));
}

/**
 * SQL that inserts rows into the ledger, in their order.
 *
 * @param rows SQL expression: {@link transferRows} as jsonb
 * @param changed the CTE whose row allows the insertion; without a row, nothing is inserted
 */
export function insertTransfersSql(rows: string, changed?: string): string {
  const from = changed === undefined ? '' : `${changed}, `;
  return `INSERT INTO transfers (${insertedColumns(TRANSFER_MAP)})
         SELECT ${recordValues(TRANSFER_MAP, 'transfer')}
           FROM ${from}jsonb_to_recordset(${rows}) AS transfer(${recordColumns(TRANSFER_MAP)})`;
}

/** Finds the late approval of an attempt; $1 is the attempt. The result is a {@link TransferRow}. */
export const SELECT_LATE_APPROVAL = `SELECT ${selectedColumns(TRANSFER_MAP)} FROM transfers
  WHERE attempt_id = $1 AND kind = 'lateApproval'`;

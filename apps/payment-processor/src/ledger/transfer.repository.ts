import { type Clock, newUuid } from '@svc/kernel';
import type { Transfer } from './transfer.js';

/** A transfer with its id, as input of {@link insertTransfersSql}. */
interface TransferItem extends Transfer {
  readonly id: string;
}

export function transferItems(transfers: readonly Transfer[], clock: Clock): TransferItem[] {
  return transfers.map((transfer) => ({ ...transfer, id: newUuid(clock) }));
}

/** SQL expressions over the CTE `target`, or named parameters of the statement. */
interface TransferColumns {
  /** {@link transferItems} as jsonb. */
  readonly items: string;
  readonly currency: string;
  readonly mode: string;
  readonly merchantId: string;
  /** Creation time. */
  readonly at: string;
}

/**
 * SQL of a CTE that inserts transfers into the ledger, in the order of the items. The CTE `target` of the statement
 * must contain the payments of the transfers.
 */
export function insertTransfersSql({ items, currency, mode, merchantId, at }: TransferColumns): string {
  return `transfer AS (
         INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, created_at)
         SELECT item.id, item.kind, item.debit, item.credit, item.amount, ${currency}, ${mode}, ${merchantId}, payment_id, ${at}
           FROM target, jsonb_to_recordset(${items}) AS item(id uuid, kind text, debit text, credit text, amount bigint)
       )`;
}

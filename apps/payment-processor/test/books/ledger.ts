import type { OpenTransaction } from '@svc/testing';
import { buildPayable } from '../builders.js';
import type { Processor } from '../processor.js';

/** The fields of a transfer that tests compare. */
export interface BookedTransfer {
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: number;
}

/** The transfers of a payment, in the order of the ledger. */
export function readLedger(
  processor: Processor,
  { paymentReference }: { paymentReference: string },
): Promise<BookedTransfer[]> {
  return processor.dataSource.query<BookedTransfer[]>(
    `SELECT t.kind, t.debit_account AS debit, t.credit_account AS credit, t.amount
       FROM transfers t JOIN payments p ON p.payment_id = t.payment_id WHERE p.payment_reference = $1 ORDER BY t.txid, t.position`,
    [paymentReference],
  );
}

/** Changes the ledger while triggers and foreign keys are disabled. The service itself cannot disable them. */
export async function forge(processor: Processor, ...statements: string[]): Promise<void> {
  const client = await processor.superuser.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL session_replication_role = replica`);
    for (const statement of statements) await client.query(statement);
    await client.query('COMMIT');
  } finally {
    // Closes the connection also after a failed statement, so that the next test does not wait for the locks of this
    // connection.
    client.release(true);
  }
}

/** Inserts this number of transfers of one cent, by default created now. Returns their ids, in order. */
export type TransferWriter = (
  count: number,
  overrides?: { readonly connection?: Pick<OpenTransaction, 'query'>; readonly createdAt?: Date },
) => Promise<string[]>;

/** Returns a function that inserts transfers. The transfers belong to a payment that is created here. */
export async function createTransferWriter(processor: Processor): Promise<TransferWriter> {
  const { paymentReference } = await processor.pay(buildPayable({ amount: 1 }));
  return async (count, { connection = processor.dataSource, createdAt = processor.clock.now() } = {}) => {
    const rows = await connection.query<{ id: string }[]>(
      `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, created_at)
       SELECT gen_random_uuid(), 'voucher', 'test:service:vouchers', 'test:merchant:1001:payable', 1, 'ZAR', 'test', 1001, payment_id, $3
         FROM payments, generate_series(1, $2::int) WHERE payment_reference = $1
       RETURNING transfer_id AS id`,
      [paymentReference, count, createdAt],
    );
    return rows.map(({ id }) => id);
  };
}

/** A row of the table of seals. */
export interface StoredSeal {
  readonly number: number;
  readonly transferIds: readonly string[];
  readonly previousHash: string;
  readonly hash: string;
}

export function readSeals(processor: Processor): Promise<StoredSeal[]> {
  return processor.dataSource.query<StoredSeal[]>(
    `SELECT seal_number AS number, transfer_ids AS "transferIds", encode(previous_hash, 'hex') AS "previousHash", encode(hash, 'hex') AS hash
       FROM ledger_seals ORDER BY seal_number`,
  );
}

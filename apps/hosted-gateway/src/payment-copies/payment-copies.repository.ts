import { DEFAULT_TIME_ZONE, type PayableSnapshot, type PaymentSnapshot } from '@svc/contracts';
import type { DataSource } from 'typeorm';
import { type PaymentCopy, toStoredCopy } from './payment-copy.js';

/** The tables of one kind of payable: hosted sessions, or the invoices of tills. */
export interface PayableTables {
  /** The table of the payables, with the state of each payable. */
  readonly payables: string;
  /** The table with the copies of their payments. */
  readonly payments: string;
  /** The column with the id of the payable, in both tables. */
  readonly id: string;
}

/** For the SELECT of a payable: the column `payments` with its payments, newest first, at most 100. */
export function selectPayments({ payables, payments, id }: PayableTables): string {
  return `ARRAY(SELECT CASE WHEN reversed_at IS NULL THEN snapshot
                            ELSE (snapshot::jsonb || jsonb_build_object('reversedUTCDate', reversed_at))::json END
                  FROM ${payments} p WHERE p.${id} = ${payables}.${id}
                 ORDER BY accepted_at DESC, version DESC LIMIT 100) AS payments`;
}

/** For the SELECT of a payable: the column `timeZones` of its merchant. The default until the merchant's event has arrived. */
export function selectTimeZones({ payables }: PayableTables): string {
  return `coalesce((SELECT time_zones FROM known_merchants m WHERE m.merchant_id = ${payables}.merchant_id),
                   '[{"zone": "${DEFAULT_TIME_ZONE}"}]') AS "timeZones"`;
}

/** Copies of the payments that payment-processor reports, and the states of their payables. */
export class PaymentCopies {
  private readonly upsertStatement: string;
  private readonly upsertReversalsStatement: string;
  private readonly updatePayableStatement: string;
  private readonly findVersionsStatement: string;

  constructor(
    private readonly dataSource: DataSource,
    { payables, payments, id }: PayableTables,
  ) {
    const copy = `value->>'paymentReference' AS payment_reference, (value#>>'{payable,payableId}')::uuid AS ${id},
             (value->>'paymentUTCDate')::timestamptz AS accepted_at, (value#>>'{payable,version}')::bigint AS version`;
    this.upsertStatement = `
      WITH reported AS (
        SELECT value AS snapshot, ${copy} FROM unnest($1::json[]) AS value
      ), payment AS (
        INSERT INTO ${payments} AS stored (payment_reference, ${id}, snapshot, accepted_at, version)
        SELECT payment_reference, ${id}, snapshot, accepted_at, version FROM reported
         WHERE NOT EXISTS (SELECT 1 FROM ${payments} p
                            WHERE p.payment_reference = reported.payment_reference AND p.version >= reported.version)
        ON CONFLICT (payment_reference) DO UPDATE SET snapshot = excluded.snapshot, version = excluded.version
         WHERE stored.version < excluded.version
      )
      UPDATE ${payables} stored
         SET payable_state = newest.state, payable_version = newest.version, payment_count = newest.payment_count
        FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::int[]) AS newest(id, state, version, payment_count)
       WHERE stored.${id} = newest.id AND stored.payable_version < newest.version`;
    this.upsertReversalsStatement = `
      INSERT INTO ${payments} AS stored (snapshot, payment_reference, ${id}, accepted_at, version, reversed_at)
      SELECT value, ${copy}, reversed.at FROM unnest($1::json[], $2::timestamptz[]) AS reversed(value, at)
      ON CONFLICT (payment_reference) DO UPDATE SET reversed_at = excluded.reversed_at`;
    this.updatePayableStatement = `
      UPDATE ${payables} SET payable_state = $2, payable_version = $3, payment_count = $4
       WHERE ${id} = $1 AND payable_version < $3`;
    this.findVersionsStatement = `SELECT ${id} AS id, payable_version AS version FROM ${payables} WHERE ${id} = ANY ($1::uuid[])`;
  }

  /**
   * Stores payments in one statement. The newest version of each payment and payable wins, so reports may arrive twice,
   * late or out of order. Sorts payables and payments, so that two concurrent statements lock common rows in the same
   * order and never deadlock.
   */
  async upsert(payments: readonly PaymentCopy[]): Promise<void> {
    if (payments.length === 0) return;
    const payables = findNewestByKey(payments, ({ payable }) => payable.payableId).map(({ payable }) => payable);
    await this.dataSource.query(this.upsertStatement, [
      findNewestByKey(payments, ({ paymentReference }) => paymentReference).map(toStoredCopy),
      payables.map(({ payableId }) => payableId),
      payables.map(({ state }) => state),
      payables.map(({ version }) => version),
      payables.map(({ paymentCount }) => paymentCount),
    ]);
  }

  /**
   * Stores reversals: the refunds of charges that succeeded too late. Changes no other data of a stored payment. Locks
   * rows in the same order as {@link upsert}.
   */
  async upsertReversals(payments: readonly PaymentSnapshot[]): Promise<void> {
    if (payments.length === 0) return;
    const reversed = findNewestByKey(payments, ({ paymentReference }) => paymentReference);
    await this.dataSource.query(this.upsertReversalsStatement, [
      reversed.map(({ reversedUTCDate: _, ...payment }) => toStoredCopy(payment)),
      reversed.map(({ reversedUTCDate }) => reversedUTCDate),
    ]);
  }

  /** Stores the new state of a payable that changed without a payment. The newest version wins. */
  async updatePayable({ payableId, state, version, paymentCount }: PayableSnapshot): Promise<void> {
    await this.dataSource.query(this.updatePayableStatement, [payableId, state, version, paymentCount]);
  }

  /** Versions of the payables with open event streams, in one query. */
  async findVersions(payableIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.dataSource.query<{ id: string; version: number }[]>(this.findVersionsStatement, [
      payableIds,
    ]);
    return new Map(rows.map(({ id, version }) => [id, version]));
  }
}

/** The newest payment of each key, sorted by key. */
function findNewestByKey<P extends PaymentCopy>(payments: readonly P[], key: (payment: P) => string): P[] {
  const oldestFirst = payments.toSorted((a, b) => a.payable.version - b.payable.version);
  const newest = [...new Map(oldestFirst.map((payment) => [key(payment), payment])).values()];
  return newest.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

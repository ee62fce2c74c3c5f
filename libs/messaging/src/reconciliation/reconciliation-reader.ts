import {
  type BookDigest,
  type BookLine,
  type BookOwner,
  type BookRange,
  type DigestPage,
  type LinesPage,
  MAX_BOOK_LINES,
  MAX_DIGESTS,
} from '@svc/contracts';
import { inTransaction, useDefaultPlanner } from '@svc/persistence';
import type { DataSource } from 'typeorm';

/**
 * Reads one side of a reconciliation: a table (called a book in docs/reconciliation.md) whose rows are compared with
 * the rows of another service. The query `rows` selects the rows from the time `$1` until the time `$2`, with the
 * columns
 *
 * - `mode`, `merchant_id`: the owner of the row.
 * - `key`: text, the same in both tables. Several rows may have the same key. Their order does not matter.
 * - `line`: jsonb, the values that must be equal in both tables. NULL while the row is not final.
 * - `amount`: cents, only for the sum in the digest.
 * - `open`: true while the row may still change, so that a difference is not an error.
 *
 * A digest is the count, sum and hash of all rows of a merchant, computed by the database. The hash is the sum of 60
 * bits of the SHA-256 of each row, so it does not depend on the order of the rows. SHA-256 of jsonb is the same on
 * every release of PostgreSQL, unlike hashtext.
 */
export class ReconciliationReader {
  private readonly digestText: string;
  private readonly linesText: string;

  /** @param extraCount number of parameters that `rows` has after the first two */
  constructor(
    private readonly dataSource: DataSource,
    rows: string,
    extraCount = 0,
  ) {
    const [third, fourth, fifth, sixth] = [3, 4, 5, 6].map((number) => `$${number + extraCount}`);
    this.digestText = `
      SELECT mode, merchant_id AS "merchantId", count(line)::int AS count, count(*) FILTER (WHERE open)::int AS open,
             coalesce(sum(amount) FILTER (WHERE line IS NOT NULL), 0)::bigint AS amount,
             coalesce(sum(('x' || left(encode(sha256(convert_to(key || ' ' || line::text, 'UTF8')), 'hex'), 15))::bit(60)::bigint), 0)::text AS hash
        FROM (${rows}) AS book
       WHERE (${third}::bigint IS NULL OR merchant_id = ${third}) AND (merchant_id, mode) > (${fourth}::bigint, ${fifth}::text)
       GROUP BY merchant_id, mode ORDER BY merchant_id, mode LIMIT ${sixth}`;
    // A number distinguishes rows with the same key, so that a page can end between two such rows.
    this.linesText = `
      SELECT key, line, open FROM (
        SELECT open, line, key || CASE WHEN nth > 1 THEN '#' || nth ELSE '' END AS key FROM (
          SELECT key, line, open, row_number() OVER (PARTITION BY key ORDER BY line::text) AS nth
            FROM (${rows}) AS book WHERE merchant_id = ${third}::bigint AND mode = ${fourth}::text) AS numbered) AS keyed
       WHERE key COLLATE "C" > ${fifth}::text ORDER BY key COLLATE "C" LIMIT ${sixth}`;
  }

  async digests(range: BookRange, options: DigestOptions = {}): Promise<DigestPage> {
    const { merchantId = null, after, extraParameters: extras = [] } = options;
    const digests = await this.queryWithDefaultPlanner<BookDigest>(this.digestText, [
      ...[range.from, range.until, ...extras],
      ...[merchantId, after?.merchantId ?? -1, after?.mode ?? '', MAX_DIGESTS],
    ]);
    return { digests };
  }

  async lines(range: BookRange, { merchantId, mode }: BookOwner, options: LinesOptions = {}): Promise<LinesPage> {
    const { after = '', extraParameters: extras = [] } = options;
    const lines = await this.queryWithDefaultPlanner<BookLine>(this.linesText, [
      ...[range.from, range.until, ...extras],
      ...[merchantId, mode, after, MAX_BOOK_LINES],
    ]);
    return { lines };
  }

  private queryWithDefaultPlanner<Row>(text: string, parameters: unknown[]): Promise<Row[]> {
    return inTransaction(this.dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      return tx.query<Row[]>(text, parameters);
    });
  }
}

export interface DigestOptions {
  readonly merchantId?: number | undefined;
  readonly after?: BookOwner | undefined;
  readonly extraParameters?: readonly unknown[];
}

export interface LinesOptions {
  readonly after?: string | undefined;
  readonly extraParameters?: readonly unknown[];
}

/** SQL: the smallest UUID of version 7 of a time. From the year 9999 on, the largest UUID. */
export function firstUuidAt(time: string): string {
  return `(CASE WHEN ${time}::timestamptz >= '9999-01-01Z' THEN repeat('f', 32)
            ELSE lpad(to_hex(greatest(0, floor(extract(epoch FROM ${time}::timestamptz) * 1000))::bigint), 12, '0') || repeat('0', 20) END)::uuid`;
}

/** SQL: the time in a UUID of version 7. */
export function timeOfUuid(id: string): string {
  return `to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;
}

/** SQL: a time as ISO 8601 UTC with milliseconds, the format of times in JSON. */
export function isoTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/**
 * SQL: the text as a whole number, or 0 if the text is not a whole number. A wrong value is still found, because a
 * reconciliation also compares `line`.
 */
export function numberOr0(text: string): string {
  return `CASE WHEN ${text} ~ '^[0-9]{1,15}$' THEN (${text})::bigint ELSE 0 END`;
}

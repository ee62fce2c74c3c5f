import { AsyncLocalStorage } from 'node:async_hooks';
import { isRetryableConflict, sqlState } from './transaction.js';

export interface BatchSettings<Item> {
  /**
   * Key of the row that a call writes. Two calls for the same row never run concurrently. Each batch is sorted by this key, so that
   * batches lock rows in the same order, also in other replicas. Omit it if `work` only reads.
   */
  readonly key?: (item: Item) => string;
  /** Maximum number of calls in a batch. */
  readonly max: number;
  /** Maximum number of concurrent batches. */
  readonly atOnce: number;
}

/** Slightly longer than the statement timeout of PostgreSQL (data-source.ts): after it the connection counts as lost. */
export const RESPONSE_TIMEOUT_MS = 20_000;
/** The same as for a connection of the pool (data-source.ts): a call that has waited longer is refused. */
export const MAX_WAIT_MS = 5_000;
/** Number of full batches that may wait; further calls are refused. */
export const MAX_WAITING_BATCHES = 100;

/**
 * Combines concurrent calls into one statement. A call runs at once if fewer than `atOnce` batches are running and none of them has
 * its row. Other calls wait and share the next batch. There is no timer: the higher the load, the larger the batches.
 *
 * `work` returns a result for each item, in the same order. Its statement is one transaction. When PostgreSQL gave up on a
 * conflict, the batch is run once more. When a row is at fault, the items are repeated one by one, so that only those with
 * such a row fail. Any other error fails the whole batch: after a lost connection it may have been committed.
 */
export function batched<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  { key, max, atOnce }: BatchSettings<Item>,
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = [];
  const rowsUnderWay = new Set<string>();
  let batchesUnderWay = 0;

  function start(): void {
    while (batchesUnderWay < atOnce) {
      const calls = take(waiting, rowsUnderWay, max);
      if (calls.length === 0) return;
      batchesUnderWay++;
      const rows = calls.map(({ row }) => row).filter((row) => row !== undefined);
      for (const row of rows) rowsUnderWay.add(row);
      // Traced as part of the call that has waited longest; a statement has one trace only.
      void calls[0]!.inItsContext(run, sortedByRow(calls)).finally(() => {
        batchesUnderWay--;
        for (const row of rows) rowsUnderWay.delete(row);
        start();
      });
    }
  }

  async function run(calls: readonly Call<Item, Result>[], isFirst = true): Promise<void> {
    try {
      const results = await inTime(work(calls.map(({ item }) => item)));
      if (results.length !== calls.length) throw new Error(`${results.length} results for ${calls.length} items.`);
      calls.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (isFirst && isRetryableConflict(error)) await run(calls, false);
      else if (calls.length > 1 && isRowAtFault(error)) for (const call of calls) await call.inItsContext(run, [call]);
      else for (const { reject } of calls) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= max * MAX_WAITING_BATCHES) return reject(noAnswer('is too busy'));
      const since = performance.now();
      waiting.push({ row: key?.(item), item, since, resolve, reject, inItsContext: AsyncLocalStorage.snapshot() });
      start();
    });
}

/** A silently lost connection blocks its call until the TCP timeout; other calls must not wait for it. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(noAnswer('has not answered')), RESPONSE_TIMEOUT_MS);
  });
  return Promise.race([answer, tooLate]).finally(() => clearTimeout(timer));
}

/** Handled like a lost connection: the statement may have been committed. */
function noAnswer(what: string): Error {
  return Object.assign(new Error(`PostgreSQL ${what}.`), { code: 'ETIMEDOUT' });
}

interface Call<Item, Result> {
  readonly row: string | undefined;
  readonly item: Item;
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly inItsContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/** Removes calls from `waiting` in order: at most one for each row, and none whose row is in a running batch. */
function take<Item, Result>(
  waiting: Call<Item, Result>[],
  underWay: ReadonlySet<string>,
  max: number,
): Call<Item, Result>[] {
  const taken: Call<Item, Result>[] = [];
  const rows = new Set(underWay);
  const oldest = performance.now() - MAX_WAIT_MS;
  const left = waiting.filter((call) => {
    if (call.since < oldest) call.reject(noAnswer('is too busy'));
    else if (taken.length === max || (call.row !== undefined && rows.has(call.row))) return true;
    else {
      taken.push(call);
      if (call.row !== undefined) rows.add(call.row);
    }
    return false;
  });
  waiting.splice(0, waiting.length, ...left);
  return taken;
}

function sortedByRow<Item, Result>(calls: readonly Call<Item, Result>[]): Call<Item, Result>[] {
  return calls.toSorted((one, other) => ((one.row ?? '') < (other.row ?? '') ? -1 : 1));
}

/** A value or constraint error (SQLSTATE classes 22 and 23): the statement was rolled back, and other rows may be valid. */
function isRowAtFault(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

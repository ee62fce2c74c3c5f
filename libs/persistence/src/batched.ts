import { AsyncLocalStorage } from 'node:async_hooks';
import { isRetryableConflict, sqlState } from './transaction.js';

export interface BatchSettings<Item> {
  /**
   * Key of the row that a call writes. Two calls for the same row never run concurrently. Each batch is sorted by this
   * key, so that batches of all replicas lock rows in the same order. Omit it if `runBatch` only reads.
   */
  readonly key?: (item: Item) => string;
  /** Maximum number of calls in a batch. */
  readonly maxItems: number;
  /** Maximum number of concurrent batches. */
  readonly maxConcurrentBatches: number;
}

/**
 * After this time without a response, the connection counts as lost. The time is slightly longer than the statement
 * timeout of PostgreSQL (data-source.ts).
 */
export const RESPONSE_TIMEOUT_MS = 20_000;
/**
 * A call that has waited longer is rejected. The wait for a connection of the pool has the same limit (data-source.ts).
 */
export const MAX_WAIT_MS = 5_000;
/** After a batch of several calls, further calls may gather for this time. */
export const GATHER_MS = 4;
/** Number of full batches that may wait. Further calls are rejected. */
export const MAX_WAITING_BATCHES = 100;

/**
 * Combines concurrent calls into one statement. A call runs immediately if fewer than `maxConcurrentBatches` batches
 * are running and no running batch writes the row of the call. Other calls wait and share the next batch: the more calls
 * arrive while batches run, the larger the next batch is. After a batch of several calls the next batch starts some
 * milliseconds later unless it is full, because more callers are active and larger batches cost less. If calls come one
 * by one, none waits for this.
 *
 * `runBatch` returns a result for each item, in the order of the items. Its statement is one transaction. If the
 * statement fails because of a serialization conflict or a deadlock, the batch is repeated once. If the statement fails
 * because of an invalid row, the items are repeated one by one, so that only the items with an invalid row fail. After
 * any other error, the whole batch fails and is not repeated, because the batch may have been committed before the
 * connection was lost.
 */
export function batched<Item, Result>(
  runBatch: (items: readonly Item[]) => Promise<readonly Result[]>,
  { key, maxItems, maxConcurrentBatches }: BatchSettings<Item>,
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = [];
  const runningRows = new Set<string>();
  let runningBatches = 0;
  let isGathering = false;

  function start(): void {
    while (runningBatches < maxConcurrentBatches && !isGathering) {
      const calls = takeCalls(waiting, runningRows, maxItems);
      if (calls.length === 0) return;
      runningBatches++;
      const rows = calls.map(({ row }) => row).filter((row) => row !== undefined);
      for (const row of rows) runningRows.add(row);
      // A statement has only one trace. It is the trace of the call that has waited longest.
      void calls[0]!.runInContext(run, sortByRow(calls)).finally(() => {
        runningBatches--;
        for (const row of rows) runningRows.delete(row);
        if (calls.length + waiting.length > 1 && waiting.length < maxItems) gather();
        else start();
      });
    }
  }

  function gather(): void {
    if (isGathering) return;
    isGathering = true;
    setTimeout(() => {
      isGathering = false;
      start();
    }, GATHER_MS);
  }

  async function run(calls: readonly Call<Item, Result>[], isFirst = true): Promise<void> {
    try {
      const results = await withTimeout(runBatch(calls.map(({ item }) => item)));
      if (results.length !== calls.length) throw new Error(`${results.length} results for ${calls.length} items.`);
      calls.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (isFirst && isRetryableConflict(error)) await run(calls, false);
      else if (calls.length > 1 && isInvalidRow(error)) for (const call of calls) await call.runInContext(run, [call]);
      else for (const { reject } of calls) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= maxItems * MAX_WAITING_BATCHES) return reject(timeoutError('is too busy'));
      const waitingSince = performance.now();
      waiting.push({
        row: key?.(item),
        item,
        waitingSince,
        resolve,
        reject,
        runInContext: AsyncLocalStorage.snapshot(),
      });
      start();
    });
}

/** If a connection is lost silently, its statement waits until the TCP timeout. Other calls must not wait so long. */
async function withTimeout<T>(response: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError('has not answered')), RESPONSE_TIMEOUT_MS);
  });
  return Promise.race([response, timeout]).finally(() => clearTimeout(timer));
}

/**
 * The error of a call that waited too long, or whose statement got no response in time. It has a code of a lost
 * connection, because the caller must handle it like a lost connection: the statement may have been committed.
 */
function timeoutError(problem: string): Error {
  return Object.assign(new Error(`PostgreSQL ${problem}.`), { code: 'ETIMEDOUT' });
}

interface Call<Item, Result> {
  readonly row: string | undefined;
  readonly item: Item;
  readonly waitingSince: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly runInContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/**
 * Removes calls from `waiting`, in their order, and returns them: at most one call for each row, and no call whose row
 * a running batch writes.
 */
function takeCalls<Item, Result>(
  waiting: Call<Item, Result>[],
  lockedRows: ReadonlySet<string>,
  maxItems: number,
): Call<Item, Result>[] {
  const takenCalls: Call<Item, Result>[] = [];
  const rows = new Set(lockedRows);
  const oldestAllowed = performance.now() - MAX_WAIT_MS;
  const remaining = waiting.filter((call) => {
    if (call.waitingSince < oldestAllowed) call.reject(timeoutError('is too busy'));
    else if (takenCalls.length === maxItems || (call.row !== undefined && rows.has(call.row))) return true;
    else {
      takenCalls.push(call);
      if (call.row !== undefined) rows.add(call.row);
    }
    return false;
  });
  waiting.splice(0, waiting.length, ...remaining);
  return takenCalls;
}

function sortByRow<Item, Result>(calls: readonly Call<Item, Result>[]): Call<Item, Result>[] {
  return calls.toSorted((one, other) => ((one.row ?? '') < (other.row ?? '') ? -1 : 1));
}

/**
 * Whether the error is a value or constraint error (SQLSTATE classes 22 and 23). The statement was then rolled back,
 * and other rows may be valid.
 */
function isInvalidRow(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

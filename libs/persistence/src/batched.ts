import { AsyncLocalStorage } from 'node:async_hooks';
import { sqlState } from './transaction.js';

export interface BatchSettings<Item> {
  /** Of the row that a call writes. Two calls for the same row never share a batch; each batch is sorted by it, so that
   * batches which lock the same rows, here or in another replica, lock them in the same order. */
  readonly key: (item: Item) => string;
  /** Most calls that share a batch. */
  readonly max: number;
  /** Most batches under way. */
  readonly atOnce: number;
}

/**
 * Lets calls that come at the same time share a statement. A call runs at once while fewer than `atOnce` batches are under
 * way; those beyond wait, and share the next one: nobody waits for a timer, and the busier it is, the larger the batches.
 *
 * `work` returns a result for each item, in the same order. Its statement is one transaction. When a row is at fault, the
 * items are repeated one by one, so that only those with such a row fail. Any other error is everybody's: after a lost
 * connection the batch may have been committed.
 */
export function batched<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  { key, max, atOnce }: BatchSettings<Item>,
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = [];
  let underWay = 0;

  function start(): void {
    while (underWay < atOnce && waiting.length > 0) {
      const calls = takeDistinct(waiting, max);
      underWay++;
      // Traced as part of the call that has waited longest; a statement has one trace only.
      void calls[0]!.inItsContext(run, calls).finally(() => {
        underWay--;
        start();
      });
    }
  }

  async function run(calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await work(calls.map(({ item }) => item));
      if (results.length !== calls.length) throw new Error(`${results.length} results for ${calls.length} items.`);
      calls.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (calls.length > 1 && isRowAtFault(error)) for (const call of calls) await call.inItsContext(run, [call]);
      else for (const { reject } of calls) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ key: key(item), item, resolve, reject, inItsContext: AsyncLocalStorage.snapshot() });
      start();
    });
}

interface Call<Item, Result> {
  readonly key: string;
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly inItsContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/** Takes calls out of `waiting`, in its order, each key once; the others stay. Returns them sorted by key. */
function takeDistinct<T extends { readonly key: string }>(waiting: T[], max: number): T[] {
  const taken = new Map<string, T>();
  const left: T[] = [];
  for (const call of waiting)
    if (taken.size < max && !taken.has(call.key)) taken.set(call.key, call);
    else left.push(call);
  waiting.splice(0, waiting.length, ...left);
  return [...taken.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** A value or a constraint (SQLSTATE classes 22 and 23): the statement was rolled back, and other rows may well be written. */
function isRowAtFault(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

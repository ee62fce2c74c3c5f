import { AsyncLocalStorage } from 'node:async_hooks';
import * as fc from 'fast-check';
import { batched, GATHER_MS, MAX_WAIT_MS, MAX_WAITING_BATCHES, RESPONSE_TIMEOUT_MS } from './batched.js';
import { isDatabaseUnavailable } from './transaction.js';

interface Item {
  readonly id: number;
  readonly row: string;
  readonly isBad?: boolean;
}

/** A batch function. The test completes each of its batches with `end` or `fail`. */
function newHeldBatches() {
  const batches: { items: readonly Item[]; end: () => void; fail: (error: unknown) => void }[] = [];
  const runBatch = (items: readonly Item[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      const results = items.map(({ id }) => `result ${id}`);
      batches.push({ items, end: () => resolve(results), fail: reject });
    });
  return { batches, runBatch };
}

const newDatabaseError = (code: string) => Object.assign(new Error(`refused with ${code}`), { code });
const waitForNextTurn = () => new Promise((resolve) => setImmediate(resolve));
/** Waits until the next batch has started. */
const waitForNextBatch = async (): Promise<void> => {
  await waitForNextTurn();
  jest.advanceTimersByTime(GATHER_MS);
  await waitForNextTurn();
};
const readIds = (batches: readonly { items: readonly Item[] }[]) =>
  batches.map(({ items }) => items.map(({ id }) => id));
const settings = { key: ({ row }: Item) => row, maxItems: 10, maxConcurrentBatches: 2 };

/** An item with this id. No other item has the same row. */
const newItem = (id: number): Item => ({ id, row: String(id).padStart(4, '0') });

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('batched calls', () => {
  it('run immediately if fewer than `maxConcurrentBatches` batches are running, and otherwise share the next batch', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, settings);
    const results = [1, 2, 3, 4, 5].map((id) => call(newItem(id)));
    expect(readIds(batches)).toEqual([[1], [2]]);
    batches[1]!.end();
    await waitForNextBatch();
    expect(readIds(batches)).toEqual([[1], [2], [3, 4, 5]]);
    for (const { end } of batches) end();
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5].map((id) => `result ${id}`));
  });

  it('gather for some milliseconds after a batch of several calls, so that the next batch is larger', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { ...settings, maxConcurrentBatches: 1 });
    const results = [1, 2, 3].map((id) => call(newItem(id)));
    batches[0]!.end();
    await waitForNextBatch();
    batches[1]!.end();
    await waitForNextTurn();
    results.push(call(newItem(4)));
    jest.advanceTimersByTime(GATHER_MS - 1);
    results.push(call(newItem(5)));
    expect(readIds(batches)).toEqual([[1], [2, 3]]);
    jest.advanceTimersByTime(1);
    expect(readIds(batches)).toEqual([[1], [2, 3], [4, 5]]);
    batches[2]!.end();
    expect(await Promise.all(results)).toHaveLength(5);
  });

  it('do not gather if a full batch is waiting', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { ...settings, maxItems: 2, maxConcurrentBatches: 1 });
    const results = [1, 2, 3].map((id) => call(newItem(id)));
    batches[0]!.end();
    await waitForNextTurn();
    expect(readIds(batches)).toEqual([[1], [2, 3]]);
    batches[1]!.end();
    expect(await Promise.all(results)).toHaveLength(3);
  });

  it('of a single caller never gather', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, settings);
    for (const id of [1, 2, 3]) {
      const result = call(newItem(id));
      batches.at(-1)!.end();
      expect(await result).toBe(`result ${id}`);
    }
    expect(readIds(batches)).toEqual([[1], [2], [3]]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('share a batch of at most `maxItems` calls, and further calls wait for the next batch', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { ...settings, maxItems: 2, maxConcurrentBatches: 1 });
    const results = [1, 2, 3, 4].map((id) => call(newItem(id)));
    for (const index of [0, 1, 2]) {
      batches[index]!.end();
      await waitForNextBatch();
    }
    expect(readIds(batches)).toEqual([[1], [2, 3], [4]]);
    await Promise.all(results);
  });

  it('are sorted by row in each batch, and no two calls of a batch write the same row', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { ...settings, maxConcurrentBatches: 1 });
    const rows = ['first', 'c', 'a', 'c', 'b', 'a'];
    const results = rows.map((row, id) => call({ id, row }));
    for (const index of [0, 1, 2]) {
      batches[index]!.end();
      await waitForNextBatch();
    }
    expect(batches.map(({ items }) => items.map(({ row }) => row))).toEqual([['first'], ['a', 'b', 'c'], ['a', 'c']]);
    expect(await Promise.all(results)).toHaveLength(6);
  });

  it('may use the same row in one batch if `key` is omitted, because the batch then only reads', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { maxItems: 10, maxConcurrentBatches: 1 });
    const results = ['first', 'same', 'same'].map((row, id) => call({ id, row }));
    batches[0]!.end();
    await waitForNextBatch();
    batches[1]!.end();
    expect(readIds(batches)).toEqual([[0], [1, 2]]);
    expect(await Promise.all(results)).toEqual(['result 0', 'result 1', 'result 2']);
  });

  it('run in the trace of the call of their batch that has waited longest', async () => {
    const trace = new AsyncLocalStorage<string>();
    const tracesOfBatches: (string | undefined)[] = [];
    const { batches, runBatch } = newHeldBatches();
    const traced = (items: readonly Item[]) => {
      tracesOfBatches.push(trace.getStore());
      return runBatch(items);
    };
    const call = batched(traced, { ...settings, maxConcurrentBatches: 1 });
    const results = [1, 3, 2].map((id) => trace.run(`trace ${id}`, () => call(newItem(id))));
    batches[0]!.end();
    await waitForNextBatch();
    batches[1]!.end();
    await Promise.all(results);
    // Call 2 is first in its batch, which is sorted by row, but call 3 has waited longer.
    expect(tracesOfBatches).toEqual(['trace 1', 'trace 3']);
  });

  it('wait while a running batch writes their row, so that no batch waits for a row lock', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, settings);
    const results = ['locked', 'locked', 'free', 'locked'].map((row, id) => call({ id, row }));
    expect(readIds(batches)).toEqual([[0], [2]]);
    batches[1]!.end();
    await waitForNextBatch();
    const later = call({ id: 4, row: 'other' });
    expect(readIds(batches)).toEqual([[0], [2], [4]]);
    for (const index of [2, 0, 3, 4]) {
      batches[index]!.end();
      await waitForNextBatch();
    }
    expect(readIds(batches)).toEqual([[0], [2], [4], [1], [3]]);
    expect(await Promise.all([...results, later])).toHaveLength(5);
  });
});

describe('a batch', () => {
  it.each(['22003', '23505'])(
    'is repeated call by call if a row causes the error %s, and only the call of that row fails',
    async (code) => {
      const batches: (readonly Item[])[] = [];
      const call = batched(async (items: readonly Item[]) => {
        batches.push(items);
        await waitForNextTurn();
        if (items.some(({ isBad }) => isBad)) throw newDatabaseError(code);
        return items.map(({ id }) => id);
      }, settings);
      const calls = Array.from({ length: 9 }, (_, id) => call({ ...newItem(id), isBad: id === 5 }));
      await waitForNextBatch();
      const results = await Promise.allSettled(calls);
      expect(results.map(({ status }) => status)).toEqual(
        results.map((_, id) => (id === 5 ? 'rejected' : 'fulfilled')),
      );
      // Two calls run immediately. The other seven calls share a batch, which fails, and then run one by one.
      expect(batches.map((items) => items.length)).toEqual([1, 1, 7, 1, 1, 1, 1, 1, 1, 1]);
    },
  );

  it.each(['40001', '40P01'])('is repeated once with the same calls after a conflict (%s)', async (code) => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { ...settings, maxConcurrentBatches: 1 });
    const results = Promise.allSettled([1, 2, 3].map((id) => call(newItem(id))));
    for (const [index, hasConflict] of [false, true, false].entries()) {
      if (hasConflict) batches[index]!.fail(newDatabaseError(code));
      else batches[index]!.end();
      await waitForNextBatch();
    }
    expect(readIds(batches)).toEqual([[1], [2, 3], [2, 3]]);
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('rejects all its calls after two conflicts', async () => {
    const { batches, runBatch } = newHeldBatches();
    const result = batched(runBatch, settings)(newItem(1)).catch((error: Error) => error.message);
    batches[0]!.fail(newDatabaseError('40P01'));
    await waitForNextBatch();
    batches[1]!.fail(newDatabaseError('40P01'));
    expect(await result).toBe('refused with 40P01');
    expect(batches).toHaveLength(2);
  });

  it.each(['08006', '57P01', '57014', '42P22', undefined])(
    'rejects all its calls and is not repeated after any other error (%s)',
    async (code) => {
      const { batches, runBatch } = newHeldBatches();
      const call = batched(runBatch, { ...settings, maxConcurrentBatches: 1 });
      const results = Promise.allSettled([1, 2, 3].map((id) => call(newItem(id))));
      batches[0]!.end();
      await waitForNextBatch();
      batches[1]!.fail(code === undefined ? new Error('Connection terminated unexpectedly') : newDatabaseError(code));
      expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(batches).toHaveLength(2);
    },
  );

  it('does not prevent the next batch if it fails', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { ...settings, maxItems: 1, maxConcurrentBatches: 1 });
    const results = Promise.allSettled([1, 2].map((id) => call(newItem(id))));
    batches[0]!.fail(newDatabaseError('08006'));
    await waitForNextBatch();
    batches[1]!.end();
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  describe('with a slow statement', () => {
    it('fails when no response arrives in time, and the waiting calls run', async () => {
      const { batches, runBatch } = newHeldBatches();
      const call = batched(runBatch, { ...settings, maxConcurrentBatches: 1 });
      const first = call(newItem(1)).catch((error: unknown) => error);
      jest.advanceTimersByTime(RESPONSE_TIMEOUT_MS - 1);
      const second = call(newItem(2));
      await waitForNextTurn();
      expect(readIds(batches)).toEqual([[1]]);
      jest.advanceTimersByTime(1);
      expect(await first).toMatchObject({ message: 'PostgreSQL has not answered.' });
      expect(isDatabaseUnavailable(await first)).toBe(true);
      await waitForNextBatch();
      batches[1]!.end();
      expect(await second).toBe('result 2');
      expect(jest.getTimerCount()).toBe(0);
    });

    it('rejects a call that has waited too long for the end of the batch, and does not run that call', async () => {
      const { batches, runBatch } = newHeldBatches();
      const call = batched(runBatch, { ...settings, maxConcurrentBatches: 1 });
      const first = call(newItem(1));
      const late = call(newItem(2)).catch((error: unknown) => error);
      jest.advanceTimersByTime(1);
      const inTime = call(newItem(3));
      jest.advanceTimersByTime(MAX_WAIT_MS - GATHER_MS);
      batches[0]!.end();
      await waitForNextBatch();
      expect(await late).toMatchObject({ message: 'PostgreSQL is too busy.' });
      expect(isDatabaseUnavailable(await late)).toBe(true);
      expect(readIds(batches)).toEqual([[1], [3]]);
      batches[1]!.end();
      expect(await Promise.all([first, inTime])).toEqual(['result 1', 'result 3']);
    });
  });

  it('rejects a call if too many calls are already waiting for the end of the batch', async () => {
    const { batches, runBatch } = newHeldBatches();
    const call = batched(runBatch, { ...settings, maxItems: 1, maxConcurrentBatches: 1 });
    const results = Array.from({ length: MAX_WAITING_BATCHES + 1 }, (_, id) => call(newItem(id)));
    await expect(call(newItem(999))).rejects.toMatchObject({
      code: 'ETIMEDOUT',
      message: 'PostgreSQL is too busy.',
    });
    for (let index = 0; index < results.length; index++) {
      batches[index]!.end();
      await waitForNextBatch();
    }
    expect(await Promise.all(results)).toHaveLength(MAX_WAITING_BATCHES + 1);
  });

  it('fails if the number of results differs from the number of calls', async () => {
    await expect(batched(() => Promise.resolve([]), settings)(newItem(1))).rejects.toThrow('0 results for 1 items');
  });
});

it('each call resolves to its own result, in any order of calls, completions and failures', async () => {
  const batchIndex = fc.nat(3);
  const row = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const isBad = fc.integer({ min: 0, max: 9 }).map((number) => number === 0);
  const arbitraryStep = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('call' as const), row, isBad }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), batchIndex }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('loseConnection' as const), batchIndex }) },
  );
  /**
   * How often batches had several calls, were repeated call by call, or lost their connection. These numbers prove that
   * all cases occur.
   */
  const occurrences = { shared: 0, repeated: 0, lost: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryStep, { minLength: 10, maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, maxItems, maxConcurrentBatches) => {
        const running: { items: readonly Item[]; settle: (isLost: boolean) => void }[] = [];
        const call = batched(
          (items: readonly Item[]) =>
            new Promise<readonly number[]>((resolve, reject) => {
              expect(items.length).toBeLessThanOrEqual(maxItems);
              expect(items.map(({ row }) => row)).toEqual([...new Set(items.map(({ row }) => row))].sort());
              if (items.length > 1) occurrences.shared++;
              const settle = (isLost: boolean) => {
                const isBad = items.some((item) => item.isBad);
                if (isLost) occurrences.lost++;
                else if (isBad && items.length > 1) occurrences.repeated++;
                if (isLost) reject(newDatabaseError('08006'));
                else if (isBad) reject(newDatabaseError('23505'));
                else resolve(items.map(({ id }) => id));
              };
              const rows = running.flatMap((batch) => batch.items.map(({ row }) => row));
              expect(items.filter(({ row }) => rows.includes(row))).toEqual([]);
              running.push({ items, settle });
              expect(running.length).toBeLessThanOrEqual(maxConcurrentBatches);
            }),
          { key: ({ row }) => row, maxItems, maxConcurrentBatches },
        );
        const calls: { item: Item; result: Promise<number | Error> }[] = [];
        const endBatch = async (batchIndex: number, isLost: boolean) => {
          const [batch] = running.splice(batchIndex % Math.max(running.length, 1), 1);
          batch?.settle(isLost);
          await waitForNextBatch();
        };
        for (const [id, step] of steps.entries())
          if (step.kind === 'call') {
            const item = { id, row: step.row, isBad: step.isBad };
            calls.push({ item, result: call(item).catch((error: Error) => error) });
          } else await endBatch(step.batchIndex, step.kind === 'loseConnection');
        while (running.length > 0) await endBatch(0, false);
        for (const { item, result } of calls) {
          const outcome = await result;
          const allowed = item.isBad ? ['refused with 23505'] : [item.id];
          expect([...allowed, 'refused with 08006']).toContain(outcome instanceof Error ? outcome.message : outcome);
        }
      },
    ),
    { numRuns: 300 },
  );
  for (const count of Object.values(occurrences)) expect(count).toBeGreaterThan(100);
});

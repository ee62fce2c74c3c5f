import { AsyncLocalStorage } from 'node:async_hooks';
import * as fc from 'fast-check';
import { batched, MAX_WAIT_MS, MAX_WAITING_BATCHES, RESPONSE_TIMEOUT_MS } from './batched.js';
import { isDatabaseUnavailable } from './transaction.js';

interface Item {
  readonly id: number;
  readonly row: string;
  readonly isBad?: boolean;
}

/** Work that the test completes. */
function heldWork() {
  const batches: { items: readonly Item[]; end: () => void; fail: (error: unknown) => void }[] = [];
  const work = (items: readonly Item[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      const results = items.map(({ id }) => `result ${id}`);
      batches.push({ items, end: () => resolve(results), fail: reject });
    });
  return { batches, work };
}

const refused = (code: string) => Object.assign(new Error(`refused with ${code}`), { code });
const turn = () => new Promise((resolve) => setImmediate(resolve));
const idsOf = (batches: readonly { items: readonly Item[] }[]) => batches.map(({ items }) => items.map(({ id }) => id));
const settings = { key: ({ row }: Item) => row, max: 10, atOnce: 2 };

/** Item `id`, with its own row. */
const item = (id: number): Item => ({ id, row: String(id).padStart(4, '0') });

describe('calls that share a batch', () => {
  it('run at once while fewer batches than allowed are in flight, and otherwise share the next batch', async () => {
    const { batches, work } = heldWork();
    const call = batched(work, settings);
    const results = [1, 2, 3, 4, 5].map((id) => call(item(id)));
    expect(idsOf(batches)).toEqual([[1], [2]]);
    batches[1]!.end();
    await turn();
    expect(idsOf(batches)).toEqual([[1], [2], [3, 4, 5]]);
    for (const { end } of batches) end();
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5].map((id) => `result ${id}`));
  });

  it('are limited in number, and the others wait for the next batch', async () => {
    const { batches, work } = heldWork();
    const call = batched(work, { ...settings, max: 2, atOnce: 1 });
    const results = [1, 2, 3, 4].map((id) => call(item(id)));
    for (const index of [0, 1, 2]) {
      batches[index]!.end();
      await turn();
    }
    expect(idsOf(batches)).toEqual([[1], [2, 3], [4]]);
    await Promise.all(results);
  });

  it('are sorted by row, and never contain the same row twice', async () => {
    const { batches, work } = heldWork();
    const call = batched(work, { ...settings, atOnce: 1 });
    const rows = ['first', 'c', 'a', 'c', 'b', 'a'];
    const results = rows.map((row, id) => call({ id, row }));
    for (const index of [0, 1, 2]) {
      batches[index]!.end();
      await turn();
    }
    expect(batches.map(({ items }) => items.map(({ row }) => row))).toEqual([['first'], ['a', 'b', 'c'], ['a', 'c']]);
    expect(await Promise.all(results)).toHaveLength(6);
  });

  it('may read the same row if the batch writes nothing', async () => {
    const { batches, work } = heldWork();
    const call = batched(work, { max: 10, atOnce: 1 });
    const results = ['first', 'same', 'same'].map((row, id) => call({ id, row }));
    batches[0]!.end();
    await turn();
    batches[1]!.end();
    expect(idsOf(batches)).toEqual([[0], [1, 2]]);
    expect(await Promise.all(results)).toEqual(['result 0', 'result 1', 'result 2']);
  });

  it('belong to the trace of the call that has waited longest', async () => {
    const trace = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const { batches, work } = heldWork();
    const traced = (items: readonly Item[]) => {
      seen.push(trace.getStore());
      return work(items);
    };
    const call = batched(traced, { ...settings, atOnce: 1 });
    const results = [1, 3, 2].map((id) => trace.run(`trace ${id}`, () => call(item(id))));
    batches[0]!.end();
    await turn();
    batches[1]!.end();
    await Promise.all(results);
    expect(seen).toEqual(['trace 1', 'trace 3']);
  });

  it('skip a row that is in another batch, so that no call waits for its lock', async () => {
    const { batches, work } = heldWork();
    const call = batched(work, settings);
    const results = ['locked', 'locked', 'free', 'locked'].map((row, id) => call({ id, row }));
    expect(idsOf(batches)).toEqual([[0], [2]]);
    batches[1]!.end();
    await turn();
    const later = call({ id: 4, row: 'other' });
    expect(idsOf(batches)).toEqual([[0], [2], [4]]);
    for (const index of [2, 0, 3, 4]) {
      batches[index]!.end();
      await turn();
    }
    expect(idsOf(batches)).toEqual([[0], [2], [4], [1], [3]]);
    expect(await Promise.all([...results, later])).toHaveLength(5);
  });
});

describe('a batch that fails', () => {
  it.each(['22003', '23505'])(
    'for a row (%s) runs again call by call, and only the call of that row fails',
    async (code) => {
      const batches: (readonly Item[])[] = [];
      const call = batched(async (items: readonly Item[]) => {
        batches.push(items);
        await turn();
        if (items.some(({ isBad }) => isBad)) throw refused(code);
        return items.map(({ id }) => id);
      }, settings);
      const results = await Promise.allSettled(
        Array.from({ length: 9 }, (_, id) => call({ ...item(id), isBad: id === 5 })),
      );
      expect(results.map(({ status }) => status)).toEqual(
        results.map((_, id) => (id === 5 ? 'rejected' : 'fulfilled')),
      );
      expect(batches.map((items) => items.length)).toEqual([1, 1, 7, 1, 1, 1, 1, 1, 1, 1]);
    },
  );

  it.each(['40001', '40P01'])('for a conflict (%s) runs once more, unchanged', async (code) => {
    const { batches, work } = heldWork();
    const call = batched(work, { ...settings, atOnce: 1 });
    const results = Promise.allSettled([1, 2, 3].map((id) => call(item(id))));
    for (const [index, isRefused] of [false, true, false].entries()) {
      if (isRefused) batches[index]!.fail(refused(code));
      else batches[index]!.end();
      await turn();
    }
    expect(idsOf(batches)).toEqual([[1], [2, 3], [2, 3]]);
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('for a second conflict fails all its calls', async () => {
    const { batches, work } = heldWork();
    const result = batched(work, settings)(item(1)).catch((error: Error) => error.message);
    batches[0]!.fail(refused('40P01'));
    await turn();
    batches[1]!.fail(refused('40P01'));
    expect(await result).toBe('refused with 40P01');
    expect(batches).toHaveLength(2);
  });

  it.each(['08006', '57P01', '57014', undefined])(
    'for any other error (%s) fails all its calls, and does not run again',
    async (code) => {
      const { batches, work } = heldWork();
      const call = batched(work, { ...settings, atOnce: 1 });
      const results = Promise.allSettled([1, 2, 3].map((id) => call(item(id))));
      batches[0]!.end();
      await turn();
      batches[1]!.fail(code === undefined ? new Error('Connection terminated unexpectedly') : refused(code));
      expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(batches).toHaveLength(2);
    },
  );

  it('does not stop the waiting calls', async () => {
    const { batches, work } = heldWork();
    const call = batched(work, { ...settings, max: 1, atOnce: 1 });
    const results = Promise.allSettled([1, 2].map((id) => call(item(id))));
    batches[0]!.fail(refused('08006'));
    await turn();
    batches[1]!.end();
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  describe('a slow batch', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
    afterEach(() => void jest.useRealTimers());

    it('is abandoned when no response arrives, and the waiting calls run', async () => {
      const { batches, work } = heldWork();
      const call = batched(work, { ...settings, atOnce: 1 });
      const first = call(item(1)).catch((error: unknown) => error);
      jest.advanceTimersByTime(RESPONSE_TIMEOUT_MS - 1);
      const second = call(item(2));
      await turn();
      expect(idsOf(batches)).toEqual([[1]]);
      jest.advanceTimersByTime(1);
      expect(isDatabaseUnavailable(await first)).toBe(true);
      await turn();
      batches[1]!.end();
      expect(await second).toBe('result 2');
      expect(jest.getTimerCount()).toBe(0);
    });

    it('refuses a call that has waited too long, instead of running it', async () => {
      const { batches, work } = heldWork();
      const call = batched(work, { ...settings, atOnce: 1 });
      const first = call(item(1));
      const late = call(item(2)).catch((error: unknown) => error);
      jest.advanceTimersByTime(1);
      const inTime = call(item(3));
      jest.advanceTimersByTime(MAX_WAIT_MS);
      batches[0]!.end();
      expect(isDatabaseUnavailable(await late)).toBe(true);
      await turn();
      expect(idsOf(batches)).toEqual([[1], [3]]);
      batches[1]!.end();
      expect(await Promise.all([first, inTime])).toEqual(['result 1', 'result 3']);
    });
  });

  it('limits the number of waiting calls', async () => {
    const { batches, work } = heldWork();
    const call = batched(work, { ...settings, max: 1, atOnce: 1 });
    const results = Array.from({ length: MAX_WAITING_BATCHES + 1 }, (_, id) => call(item(id)));
    await expect(call(item(999))).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    for (let index = 0; index < results.length; index++) {
      batches[index]!.end();
      await turn();
    }
    expect(await Promise.all(results)).toHaveLength(MAX_WAITING_BATCHES + 1);
  });

  it('fails if the work returns another number of results', async () => {
    await expect(batched(() => Promise.resolve([]), settings)(item(1))).rejects.toThrow('0 results for 1 items');
  });
});

it('each call gets its own result, in any order of calls, completions and failures', async () => {
  const which = fc.nat(3);
  const row = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const isBad = fc.integer({ min: 0, max: 9 }).map((number) => number === 0);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('call' as const), row, isBad }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), which }) },
  );
  const covered = { shared: 0, repeated: 0, lost: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, max, atOnce) => {
        const open: { items: readonly Item[]; settle: (isLost: boolean) => void }[] = [];
        const call = batched(
          (items: readonly Item[]) =>
            new Promise<readonly number[]>((resolve, reject) => {
              expect(items.length).toBeLessThanOrEqual(max);
              expect(items.map(({ row }) => row)).toEqual([...new Set(items.map(({ row }) => row))].sort());
              if (items.length > 1) covered.shared++;
              const settle = (isLost: boolean) => {
                const isBad = items.some((one) => one.isBad);
                if (isLost) covered.lost++;
                else if (isBad && items.length > 1) covered.repeated++;
                if (isLost) reject(refused('08006'));
                else if (isBad) reject(refused('23505'));
                else resolve(items.map(({ id }) => id));
              };
              const rows = open.flatMap((batch) => batch.items.map(({ row }) => row));
              expect(items.filter(({ row }) => rows.includes(row))).toEqual([]);
              open.push({ items, settle });
              expect(open.length).toBeLessThanOrEqual(atOnce);
            }),
          { key: ({ row }) => row, max, atOnce },
        );
        const calls: { item: Item; result: Promise<number | Error> }[] = [];
        const end = async (which: number, isLost: boolean) => {
          const [batch] = open.splice(which % Math.max(open.length, 1), 1);
          batch?.settle(isLost);
          await turn();
        };
        for (const [id, action] of steps.entries())
          if (action.do === 'call') {
            const added = { id, row: action.row, isBad: action.isBad };
            calls.push({ item: added, result: call(added).catch((error: Error) => error) });
          } else await end(action.which, action.do === 'lose');
        while (open.length > 0) await end(0, false);
        for (const { item: asked, result } of calls) {
          const got = await result;
          const allowed = asked.isBad ? ['refused with 23505'] : [asked.id];
          expect([...allowed, 'refused with 08006']).toContain(got instanceof Error ? got.message : got);
        }
      },
    ),
    { numRuns: 300 },
  );
  for (const count of Object.values(covered)) expect(count).toBeGreaterThan(100);
});

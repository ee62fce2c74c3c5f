import { runOpenLoad } from './open-loop.ts';

test('runOpenLoad starts work when it is due, even while earlier work is still running', async () => {
  const dueAt: number[] = [];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const work = (due: number): Promise<void> => {
    dueAt.push(due);
    if (dueAt.length === 10) release(); // the first nine are still running when the tenth starts
    return released;
  };
  const { started, refused, errors } = await runOpenLoad({ perSecond: 200, seconds: 0.2, maxInFlight: 1_000, work });
  expect([started, refused, errors]).toEqual([dueAt.length, 0, []]);
  expect(started).toBeGreaterThan(10);
  expect([...dueAt].sort((a, b) => a - b)).toEqual(dueAt);
});

test('runOpenLoad counts work above the limit as refused, and failed work as an error', async () => {
  let turns = 0;
  const failAfterManyTurns = async (): Promise<void> => {
    while (turns++ < 2_000) await new Promise((resolve) => setImmediate(resolve));
    throw new Error('broken');
  };
  const result = await runOpenLoad({ perSecond: 2_000, seconds: 0.05, maxInFlight: 2, work: failAfterManyTurns });
  expect(result.refused).toBeGreaterThan(0);
  expect(result.errors).toHaveLength(result.started);
});

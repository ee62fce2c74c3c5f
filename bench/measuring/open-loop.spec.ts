import { runOpenLoad } from './open-loop.ts';

test('work begins when it is due, whether what began before has ended or not', async () => {
  const dueAt: number[] = [];
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const work = (due: number): Promise<void> => {
    dueAt.push(due);
    if (dueAt.length === 10) release();
    return gate;
  };
  const { begun, refused, errors } = await runOpenLoad({ perSecond: 200, seconds: 0.2, underWayMax: 1_000, work });
  expect([begun, refused, errors]).toEqual([dueAt.length, 0, []]);
  expect(begun).toBeGreaterThan(10);
  expect([...dueAt].sort((a, b) => a - b)).toEqual(dueAt);
});

test('what cannot begin is counted as refused, and what fails as an error', async () => {
  let looks = 0;
  const busyFor = async (): Promise<void> => {
    while (looks++ < 2_000) await new Promise((resolve) => setImmediate(resolve));
    throw new Error('broken');
  };
  const result = await runOpenLoad({ perSecond: 2_000, seconds: 0.05, underWayMax: 2, work: busyFor });
  expect(result.refused).toBeGreaterThan(0);
  expect(result.errors).toHaveLength(result.begun);
});

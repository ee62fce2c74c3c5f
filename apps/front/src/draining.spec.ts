import { AppDraining } from './draining.js';

/** Whether the promise has settled after a few turns of the microtask queue. */
const hasSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return isSettled;
};

test('a draining app holds requests until it resumes, and does not affect other apps', async () => {
  const draining = new AppDraining();
  await draining.drain('identity');
  const heldRequest = draining.enter('identity');
  expect(await hasSettled(heldRequest)).toBe(false);
  expect(await hasSettled(draining.enter('demo-shop'))).toBe(true);
  draining.resume('identity');
  expect(await hasSettled(heldRequest)).toBe(true);
});

test('draining waits for all requests in flight, even if the first request reports its end twice', async () => {
  const draining = new AppDraining();
  const leaveFirst = await draining.enter('identity');
  const leaveSecond = await draining.enter('identity');
  const drained = draining.drain('identity');
  leaveFirst();
  leaveFirst();
  expect(await hasSettled(drained)).toBe(false);
  leaveSecond();
  expect(await hasSettled(drained)).toBe(true);
  draining.resume('identity');
});

describe('AppDraining with timeouts', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Whether the promise has settled one millisecond before the given time, and whether it has settled at that time. */
  const isSettledBeforeAndAt = async (promise: Promise<unknown>, milliseconds: number): Promise<[boolean, boolean]> => {
    let isSettled = false;
    void promise.then(() => (isSettled = true));
    await jest.advanceTimersByTimeAsync(milliseconds - 1);
    const before = isSettled;
    await jest.advanceTimersByTimeAsync(1);
    return [before, isSettled];
  };

  it('holds a request for a draining app for at most 20 s', async () => {
    const draining = new AppDraining();
    await draining.drain('identity');
    expect(await isSettledBeforeAndAt(draining.enter('identity'), 20_000)).toEqual([false, true]);
  });

  it('waits for requests in flight for at most 10 s', async () => {
    const draining = new AppDraining();
    await draining.enter('identity');
    expect(await isSettledBeforeAndAt(draining.drain('identity'), 10_000)).toEqual([false, true]);
  });

  it('leaves no timer behind if the wait ends early', async () => {
    const draining = new AppDraining();
    const leave = await draining.enter('identity');
    const drained = draining.drain('identity');
    leave();
    await drained;
    const heldRequest = draining.enter('identity');
    draining.resume('identity');
    await heldRequest;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('admits the held requests after one resume, even if drain was called twice', async () => {
    const draining = new AppDraining();
    await draining.drain('identity');
    const heldRequest = draining.enter('identity');
    await draining.drain('identity');
    draining.resume('identity');
    expect(await hasSettled(heldRequest)).toBe(true);
    expect(await hasSettled(draining.enter('identity'))).toBe(true);
    draining.resume('identity');
  });
});

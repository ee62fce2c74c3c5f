import { AppDraining } from './draining.js';

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return isSettled;
};

test('a draining app holds requests until it resumes, and does not affect other apps', async () => {
  const draining = new AppDraining();
  await draining.drain('identity');
  const waiting = draining.enter('identity');
  expect(await settled(waiting)).toBe(false);
  expect(await settled(draining.enter('demo-shop'))).toBe(true);
  draining.resume('identity');
  expect(await settled(waiting)).toBe(true);
});

test('draining waits for the requests in flight, and each of them is counted once', async () => {
  const draining = new AppDraining();
  const leave = [await draining.enter('identity'), await draining.enter('identity')];
  const closed = draining.drain('identity');
  leave[0]!();
  leave[0]!();
  expect(await settled(closed)).toBe(false);
  leave[1]!();
  expect(await settled(closed)).toBe(true);
  draining.resume('identity');
});

describe('waiting is limited', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const isSettledAfter = async (promise: Promise<unknown>, milliseconds: number): Promise<[boolean, boolean]> => {
    let isSettled = false;
    void promise.then(() => (isSettled = true));
    await jest.advanceTimersByTimeAsync(milliseconds - 1);
    const before = isSettled;
    await jest.advanceTimersByTimeAsync(1);
    return [before, isSettled];
  };

  it('to 20 s for a draining app', async () => {
    const draining = new AppDraining();
    await draining.drain('identity');
    expect(await isSettledAfter(draining.enter('identity'), 20_000)).toEqual([false, true]);
  });

  it('to 10 s for requests in flight', async () => {
    const draining = new AppDraining();
    await draining.enter('identity');
    expect(await isSettledAfter(draining.drain('identity'), 10_000)).toEqual([false, true]);
  });

  it('and leaves no timer if it ends early', async () => {
    const draining = new AppDraining();
    const leave = await draining.enter('identity');
    const closed = draining.drain('identity');
    leave();
    await closed;
    const waiting = draining.enter('identity');
    draining.resume('identity');
    await waiting;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('after draining twice: a single resume admits the waiting requests', async () => {
    const draining = new AppDraining();
    await draining.drain('identity');
    const waiting = draining.enter('identity');
    await draining.drain('identity');
    draining.resume('identity');
    expect(await settled(waiting)).toBe(true);
    expect(await settled(draining.enter('identity'))).toBe(true);
    draining.resume('identity');
  });
});

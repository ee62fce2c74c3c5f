import { RequestGates } from './gates.js';

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return isSettled;
};

test('a closed gate holds requests until it opens, and does not affect other gates', async () => {
  const gates = new RequestGates();
  await gates.close('identity');
  const waiting = gates.enter('identity');
  expect(await settled(waiting)).toBe(false);
  expect(await settled(gates.enter('demo-shop'))).toBe(true);
  gates.open('identity');
  expect(await settled(waiting)).toBe(true);
});

test('closing waits for the requests in flight, and each of them is counted once', async () => {
  const gates = new RequestGates();
  const leave = [await gates.enter('identity'), await gates.enter('identity')];
  const closed = gates.close('identity');
  leave[0]!();
  leave[0]!();
  expect(await settled(closed)).toBe(false);
  leave[1]!();
  expect(await settled(closed)).toBe(true);
  gates.open('identity');
});

describe('waiting is bounded', () => {
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

  it('at a closed gate to 20 s', async () => {
    const gates = new RequestGates();
    await gates.close('identity');
    expect(await isSettledAfter(gates.enter('identity'), 20_000)).toEqual([false, true]);
  });

  it('for requests in flight to 10 s', async () => {
    const gates = new RequestGates();
    await gates.enter('identity');
    expect(await isSettledAfter(gates.close('identity'), 10_000)).toEqual([false, true]);
  });

  it('and an early end leaves no timer', async () => {
    const gates = new RequestGates();
    const leave = await gates.enter('identity');
    const closed = gates.close('identity');
    leave();
    await closed;
    const waiting = gates.enter('identity');
    gates.open('identity');
    await waiting;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('closing twice is closing once: one opening admits the requests that wait', async () => {
    const gates = new RequestGates();
    await gates.close('identity');
    const waiting = gates.enter('identity');
    await gates.close('identity');
    gates.open('identity');
    expect(await settled(waiting)).toBe(true);
    expect(await settled(gates.enter('identity'))).toBe(true);
    gates.open('identity');
  });
});

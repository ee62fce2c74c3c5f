import { Gates } from './gates.js';

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false;
  void promise.then(() => (isSettled = true));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return isSettled;
};

test('a closed gate lets nobody in until it is opened, and other gates are not concerned', async () => {
  const gates = new Gates();
  await gates.close('identity');
  const waiting = gates.enter('identity');
  expect(await settled(waiting)).toBe(false);
  expect(await settled(gates.enter('demo-shop'))).toBe(true);
  gates.open('identity');
  expect(await settled(waiting)).toBe(true);
});

test('closing waits for those inside, each of whom leaves once', async () => {
  const gates = new Gates();
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
    const gates = new Gates();
    await gates.close('identity');
    expect(await isSettledAfter(gates.enter('identity'), 20_000)).toEqual([false, true]);
  });

  it('for requests under way to 10 s', async () => {
    const gates = new Gates();
    await gates.enter('identity');
    expect(await isSettledAfter(gates.close('identity'), 10_000)).toEqual([false, true]);
  });

  it('and leaves no timer behind when it ends before', async () => {
    const gates = new Gates();
    const leave = await gates.enter('identity');
    const closed = gates.close('identity');
    leave();
    await closed;
    const waiting = gates.enter('identity');
    gates.open('identity');
    await waiting;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('closing twice is closing once, and what waits is let in by one opening', async () => {
    const gates = new Gates();
    await gates.close('identity');
    const waiting = gates.enter('identity');
    await gates.close('identity');
    gates.open('identity');
    expect(await settled(waiting)).toBe(true);
    expect(await settled(gates.enter('identity'))).toBe(true);
    gates.open('identity');
  });
});

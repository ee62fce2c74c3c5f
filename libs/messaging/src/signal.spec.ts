import { Signal } from './signal.js';

const countTimers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('a nudge ends the wait and leaves no timer behind', async () => {
  const signal = new Signal();
  const before = countTimers();
  const waiting = signal.wait(60_000);
  expect(countTimers()).toBe(before + 1);
  signal.nudge();
  await expect(waiting).resolves.toBe(true);
  expect(countTimers()).toBe(before);
});

test('after two nudges without a waiting caller, only the next wait ends immediately', async () => {
  const signal = new Signal();
  signal.nudge();
  signal.nudge();
  await expect(signal.wait(60_000)).resolves.toBe(true);
  await expect(signal.wait(1)).resolves.toBe(false);
});

test('after clear(), a wait does not end because of an earlier nudge', async () => {
  const signal = new Signal();
  signal.nudge();
  signal.clear();
  await expect(signal.wait(1)).resolves.toBe(false);
});

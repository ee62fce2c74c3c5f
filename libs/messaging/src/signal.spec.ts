import { Signal } from './signal.js';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('a nudge ends the wait and leaves no timer behind', async () => {
  const signal = new Signal();
  const before = timers();
  const waiting = signal.wait(60_000);
  expect(timers()).toBe(before + 1);
  signal.nudge();
  await expect(waiting).resolves.toBe(true);
  expect(timers()).toBe(before);
});

test('a nudge while no caller waits is remembered, once', async () => {
  const signal = new Signal();
  signal.nudge();
  signal.nudge();
  await expect(signal.wait(60_000)).resolves.toBe(true);
  await expect(signal.wait(1)).resolves.toBe(false);
});

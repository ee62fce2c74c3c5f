import type { ServiceLog } from '@svc/service';
import { AcquirerJobs } from './acquirer-jobs.js';

test('an acquirer that does not respond delays only its own runs, and a stop waits for its run', async () => {
  let respond: () => void = () => undefined;
  const response = new Promise<void>((resolve) => (respond = resolve));
  const runs: string[] = [];
  let onSecondRun: () => void = () => undefined;
  const secondRun = new Promise<void>((resolve) => (onSecondRun = resolve));
  const jobs = new AcquirerJobs(
    'recovery',
    60_000,
    {} as ServiceLog,
    { names: ['stuck', 'other'] },
    async (acquirer) => {
      runs.push(acquirer);
      if (acquirer === 'stuck') await response;
      else if (runs.length > 2) onSecondRun();
      else return true;
      return false;
    },
  );
  jobs.start();
  await secondRun;
  expect(runs).toEqual(['stuck', 'other', 'other']);
  let isStopped = false;
  const stopped = jobs.stop().then(() => (isStopped = true));
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  respond();
  await stopped;
  expect(runs).toEqual(['stuck', 'other', 'other']);
});

test('a trigger starts the next run of every acquirer without the pause', async () => {
  const runs: string[] = [];
  let onRun: () => void = () => undefined;
  const jobs = new AcquirerJobs('deletion of cards', 60_000, {} as ServiceLog, { names: ['a', 'b'] }, (acquirer) => {
    runs.push(acquirer);
    onRun();
    return Promise.resolve(false);
  });
  jobs.start();
  await new Promise(setImmediate);
  const triggered = new Promise<void>((resolve) => (onRun = () => void (runs.length === 4 && resolve())));
  jobs.trigger();
  await triggered;
  expect(runs.toSorted()).toEqual(['a', 'a', 'b', 'b']);
  await jobs.stop();
});

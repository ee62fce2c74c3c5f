import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findIdentity } from '../base/process-identity.ts';
import { waitForEndOfCaller } from './wait-for-stop.ts';

it('waitForEndOfCaller waits until the process that started Nx has ended', async () => {
  const caller = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  await once(caller, 'spawn');
  process.env['SVC_CALLER'] = JSON.stringify({ pid: caller.pid, identity: findIdentity(caller.pid!) });
  let hasEnded = false;
  const ended = waitForEndOfCaller().then(() => (hasEnded = true));
  expect(hasEnded).toBe(false);
  caller.kill('SIGKILL');
  expect(await ended).toBe(true);
});

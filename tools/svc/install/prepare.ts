import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { acquireLock, type Lock } from '../base/lock.ts';
import type { Steps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { pathsOf, type Settings } from '../settings/settings.ts';
import { build } from './build.ts';
import { install } from './install.ts';

const WAIT_SECONDS = 900;

/**
 * Installs packages and optionally builds. All copies of the platform share node_modules and dist, so a lock lets only
 * one of them do this at a time.
 */
export async function prepare(settings: Settings, steps: Steps, options: { build: boolean }): Promise<void> {
  const { log } = pathsOf(settings);
  const lock = await waitForLock(join(settings.root, '.data', 'run', 'install.lock'));
  try {
    await steps.run('install', () => install(settings.root, join(log, 'install.log')));
    if (options.build) await steps.run('build', () => build(settings.root, join(log, 'build.log')));
  } finally {
    lock.release();
  }
}

async function waitForLock(file: string): Promise<Lock> {
  for (let second = 0; second < WAIT_SECONDS; second++) {
    const lock = acquireLock(file);
    if ('release' in lock) return lock;
    if (second === 0) console.log(`  … waiting for process ${lock.heldBy}, which is installing or building here`);
    await pause(1000);
  }
  throw new SvcError(`another ./svc has been installing or building here for ${WAIT_SECONDS} s`, {
    hint: `${file} has its process id`,
  });
}

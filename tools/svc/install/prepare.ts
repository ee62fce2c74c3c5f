import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { build } from './build.ts';
import { install } from './install.ts';
import { acquireLock, type Lock } from '../base/lock.ts';
import { pathsOf, type Settings } from '../base/settings.ts';
import type { Steps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';

const WAIT_SECONDS = 900;

/**
 * Installs, and builds where that is asked for. Copies with data folders of their own share node_modules and dist, so
 * only one of them does this at a time; the next finds the work done.
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
  let saidSo = false;
  for (let second = 0; second < WAIT_SECONDS; second++) {
    const lock = acquireLock(file);
    if ('release' in lock) return lock;
    if (!saidSo) console.log(`  … process ${lock.heldBy} is installing or building here; waiting for it`);
    saidSo = true;
    await pause(1000);
  }
  throw new SvcError('another ./svc has been installing or building here for too long', {
    hint: `it is named in ${file}`,
  });
}

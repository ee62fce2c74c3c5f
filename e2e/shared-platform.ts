/**
 * One started platform of each mode for all files that only use it. A file whose tests break, restart, configure or
 * measure a platform starts its own (`Platform.start`). Files share it at the same time: a test counts only what belongs
 * to its own merchant, partner, session or payment.
 *
 * The first file that needs the platform starts it; stop-platforms.ts stops it when the last file is done.
 */
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { takeLock } from '../tools/svc/lock.ts';
import { Platform, ROOT } from './platform.js';

/** A start takes about 20 s; on a busy machine several start at the same time. */
const START_MS_MAX = 240_000;

export async function sharedPlatform(mode: 'embedded' | 'distributed'): Promise<Platform> {
  const name = `shared-${mode}`;
  const lock = await waitUntil(`another file to start the platform "${name}"`, START_MS_MAX, () => {
    const taken = takeLock(join(ROOT, '.data', 'e2e', `${name}.lock`));
    return Promise.resolve('release' in taken && taken);
  });
  try {
    const platform = Platform.find(name, mode);
    if (platform === undefined) return await Platform.start(name, {}, mode);
    await waitUntil(`the shared platform: a test that breaks one needs its own`, 30_000, () => platform.isReady());
    return platform;
  } finally {
    lock.release();
  }
}

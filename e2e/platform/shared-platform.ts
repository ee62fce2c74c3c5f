/**
 * One platform of each mode, shared by all test files that only use a platform. A file whose tests break, restart,
 * configure or measure a platform starts its own (`Platform.start`). Files use the shared platform at the same time, so
 * a test counts only what belongs to its own merchant, partner, session or payment.
 *
 * The first file that needs the platform starts it. stop-platforms.ts stops the platform when the last file is done.
 */
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { DATA_DIRS, Platform, takeFreeLock } from './platform.js';

export async function sharedPlatform(mode: 'embedded' | 'distributed'): Promise<Platform> {
  const name = `shared-${mode}`;
  const lock = await takeFreeLock(`another file to start the platform "${name}"`, [join(DATA_DIRS, `${name}.lock`)]);
  try {
    const platform = Platform.find(name, mode);
    if (platform === undefined) return await Platform.start(name, {}, mode);
    await waitUntil('the shared platform, which no test may break, to be ready', 30_000, () => platform.isReady());
    return platform;
  } finally {
    lock.release();
  }
}

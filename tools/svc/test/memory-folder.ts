import { createHash } from 'node:crypto';
import { accessSync, constants, lstatSync, mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../base/svc-error.ts';

/** A memory file system of Linux. */
const SHARED_MEMORY = '/dev/shm';
/** A whole test run uses about 1 GB. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/**
 * A folder in memory for temporary test data, or undefined when the machine has no memory file system or too little
 * space. Each test database has about 400 files: on a disk, PostgreSQL spends a quarter of its processor time in the
 * file system.
 *
 * @param dataDir the data folder of the run: runs with different data folders have different folders in memory
 */
export function memoryFolder(dataDir: string): string | undefined {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize < MIN_FREE_BYTES) return undefined;
  } catch {
    return undefined;
  }
  const run = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  return join(SHARED_MEMORY, `svc-payments-test-${run}`);
}

/**
 * Creates the folder, unless it exists. All users may write to the file system in memory, so a folder that another user
 * has prepared is refused: that user would know the secrets in it.
 *
 * @throws SvcError when the folder belongs to another user, or is a link
 */
export function claimFolder(path: string, ownUid = process.getuid?.()): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const existing = lstatSync(path);
    if (existing.isDirectory() && existing.uid === ownUid) return;
    throw new SvcError(`${path} is not a folder of this user`, {
      hint: 'remove it, or choose another data folder with SVC_DATA_DIR',
    });
  }
}

import { createHash } from 'node:crypto';
import { accessSync, constants, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const SHARED_MEMORY = '/dev/shm';
/** A whole run of the tests uses about 1 GB of it. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/**
 * A folder in memory for data that a run of the tests makes and deletes, or undefined where this machine has none or too
 * little. Each test database is some 400 files: on a disk, a quarter of the processor time of PostgreSQL in tests is spent in
 * the file system.
 *
 * @param purpose a part of the folder's name
 */
export function memoryFolder(root: string, purpose: string): string | undefined {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize < MIN_FREE_BYTES) return undefined;
  } catch {
    return undefined;
  }
  const copy = createHash('sha256').update(root).digest('hex').slice(0, 12);
  return join(SHARED_MEMORY, `svc-payments-${purpose}-${copy}`);
}

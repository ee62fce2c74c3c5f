import { createHash } from 'node:crypto';
import { accessSync, constants, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** A memory file system of Linux. */
const SHARED_MEMORY = '/dev/shm';
/** A whole test run uses about 1 GB. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/**
 * A folder in memory for temporary test data, or undefined when the machine has no memory file system or too little space. Each
 * test database has about 400 files: on a disk, PostgreSQL spends a quarter of its processor time in the file system.
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

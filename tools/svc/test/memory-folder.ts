import { createHash } from 'node:crypto';
import { accessSync, constants, statfsSync } from 'node:fs';
import { join } from 'node:path';

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

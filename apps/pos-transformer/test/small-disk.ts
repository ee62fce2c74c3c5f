import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of a few megabytes in memory, which a test can fill. Mounting it needs root, as in CI. */
export class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  private readonly filler = join(this.folder, 'filler');

  constructor(megabytes: number) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', this.folder]);
  }

  /** Fills the disk to its last block. */
  fill(): void {
    for (const bytes of [65_536, 4_096])
      for (let isFull = false; !isFull;) {
        try {
          appendFileSync(this.filler, Buffer.alloc(bytes, 1));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          isFull = true;
        }
      }
  }

  empty(): void {
    rmSync(this.filler, { force: true });
  }

  remove(): void {
    execFileSync('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

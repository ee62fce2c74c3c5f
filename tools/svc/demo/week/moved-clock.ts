/** Moves the clock of the platform while it trades the demo's week: the other end of SVC_DEMO_CLOCK_FILE. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export class MovedClock {
  private readonly file: string;
  private offsetMs = Number.NEGATIVE_INFINITY;

  constructor(file: string) {
    this.file = file;
  }

  /** Moves the time forward to this moment; an earlier moment changes nothing. It continues to pass from there. */
  moveTo(moment: Date): void {
    const offsetMs = Math.min(moment.getTime() - Date.now(), 0);
    if (offsetMs <= this.offsetMs) return;
    this.offsetMs = offsetMs;
    mkdirSync(dirname(this.file), { recursive: true });
    // A program that reads meanwhile finds the old file or the new one.
    writeFileSync(`${this.file}.new`, String(offsetMs));
    renameSync(`${this.file}.new`, this.file);
  }

  /** Lets the platform use the time of this machine, for ever. */
  release(): void {
    rmSync(this.file, { force: true });
  }
}

import { Clock } from '@svc/kernel';

/** A clock whose time changes only when a test calls `advance` or `jump`. */
export class ManualClock extends Clock {
  private elapsedMs = 0;

  constructor(private time = new Date('2026-03-01T10:00:00.000Z')) {
    super();
  }

  override now(): Date {
    return new Date(this.time);
  }

  override monotonicMs(): number {
    return this.elapsedMs;
  }

  /** Lets time pass. */
  advance(milliseconds: number): void {
    this.elapsedMs += milliseconds;
    this.jump(milliseconds);
  }

  /** Changes the time, as when a person sets the clock: no time passes. */
  jump(milliseconds: number): void {
    this.time = new Date(this.time.getTime() + milliseconds);
  }
}

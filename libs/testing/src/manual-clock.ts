import { Clock } from '@svc/kernel';

/** A clock whose time changes only when a test calls `advance`. */
export class ManualClock extends Clock {
  constructor(private time = new Date('2026-03-01T10:00:00.000Z')) {
    super();
  }

  override now(): Date {
    return new Date(this.time);
  }

  advance(milliseconds: number): void {
    this.time = new Date(this.time.getTime() + milliseconds);
  }
}

/**
 * The injected clock, which tests can advance instead of waiting. SQL statements get the time as a parameter and do not
 * use now(). It is an abstract class, so that it can also be the injection token.
 */
export abstract class Clock {
  abstract now(): Date;

  /** ISO 8601 UTC with milliseconds (C2). */
  nowISO(): string {
    return this.now().toISOString();
  }

  /** Now plus a number of milliseconds. */
  later(milliseconds: number): Date {
    return new Date(this.now().getTime() + milliseconds);
  }

  /**
   * Milliseconds since an unknown moment, for durations within this process. They do not change when the clock of
   * the computer is set.
   */
  monotonicMs(): number {
    return performance.now();
  }
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

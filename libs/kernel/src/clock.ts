/**
 * The injected clock, so that tests advance it instead of waiting. SQL gets the time as a parameter, never from now().
 * An abstract class, because it is also its own injection token.
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
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

import { readFileSync } from 'node:fs';
import { type Clock, SystemClock } from '@svc/kernel';
import { ConfigError } from './config-error.js';

/**
 * The clock of a development platform whose demo data come from the last days. While a file exists, the time is that of
 * the system plus the milliseconds in the file, usually a negative number. `./svc up` moves it forward, and removes the
 * file before it announces the platform. From then on this clock is that of the system for ever.
 *
 * It only moves forward, as the clock of a computer that was suspended.
 */
export class DemoClock extends SystemClock {
  private offsetMs: number | undefined;
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly file: string) {
    super();
    this.read();
  }

  override now(): Date {
    if (this.offsetMs === undefined) return super.now();
    // A request asks for the time often. Within a millisecond it gets the same answer.
    if (performance.now() - this.readAtMs >= 1) this.read();
    return new Date(super.now().getTime() + (this.offsetMs ?? 0));
  }

  private read(): void {
    this.readAtMs = performance.now();
    try {
      this.offsetMs = Number(readFileSync(this.file, 'utf8'));
    } catch {
      this.offsetMs = undefined;
    }
  }
}

/**
 * The clock of a program. SVC_DEMO_CLOCK_FILE names the file of a {@link DemoClock}.
 *
 * @throws ConfigError in production, whose records must have the time of the system
 */
export function newClock({
  SVC_DEMO_CLOCK_FILE: file,
  SVC_ENVIRONMENT: environment,
}: {
  readonly SVC_DEMO_CLOCK_FILE?: string;
  readonly SVC_ENVIRONMENT: string;
}): Clock {
  if (file === undefined) return new SystemClock();
  if (environment === 'production') throw new ConfigError('SVC_DEMO_CLOCK_FILE is for development only.');
  return new DemoClock(file);
}

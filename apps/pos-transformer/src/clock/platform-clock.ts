import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service/standalone';
import { Store } from '../store/store.js';
import { isClockWrong } from './clock-problem.js';
import { PlatformTimeRepository } from './platform-time.repository.js';

/** Injection token of the computer's own clock, which may be wrong by any amount, and may jump. */
export const COMPUTER_CLOCK = Symbol('ComputerClock');

/** A difference below this is not saved, so that the file is not written after every response. */
const MIN_SAVED_CHANGE_MS = 1_000;

/**
 * The platform's time, which decides when something is due, how old it is and whether it repeats (T14). Within a run it
 * advances with the monotonic clock. Each response of the platform corrects it by its `Date` header.
 *
 * At the start the time is an estimate: the time of the computer plus the last known difference, but later than every
 * stored time. The first response of the run shows by how much the estimate is wrong. Then the clock and all times that
 * were written since the estimate began move by this amount, so that their ages do not change.
 */
@Injectable()
export class PlatformClock extends Clock {
  /** The time when the monotonic clock was 0. Unix time in ms. */
  private originMs: number;
  private estimatedSince: string | null;
  private savedOffsetMs: number;
  private wasWrong = false;

  constructor(
    @Inject(COMPUTER_CLOCK) private readonly computerClock: Clock,
    @Inject(Store) private readonly store: Store,
    @Inject(PlatformTimeRepository) private readonly times: PlatformTimeRepository,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    super();
    const { offsetMs, estimatedSince } = times.get();
    const newest = Date.parse(times.findNewestTime() ?? '') || 0;
    const start = Math.max(computerClock.now().getTime() + offsetMs, newest + 1);
    this.originMs = start - computerClock.monotonicMs();
    this.savedOffsetMs = offsetMs;
    this.estimatedSince = estimatedSince ?? this.nowISO();
  }

  override now(): Date {
    return new Date(Math.floor(this.originMs + this.monotonicMs()));
  }

  override monotonicMs(): number {
    return this.computerClock.monotonicMs();
  }

  /** Whether the platform has responded in this run. Before that, the time is an estimate. */
  get isPlatformTimeKnown(): boolean {
    return this.estimatedSince === null;
  }

  /** The time of the computer's clock minus the time of the platform. */
  get computerErrorMs(): number {
    return this.computerClock.now().getTime() - this.now().getTime();
  }

  /**
   * Corrects the time by a response of the platform.
   *
   * @param dateMs the header Date, which has whole seconds. Unix time in ms
   * @param sentAtMs when the request was sent, by the monotonic clock
   */
  correct(dateMs: number, sentAtMs: number): void {
    const now = this.now().getTime();
    // The platform wrote the header within the second that it contains, while the request was in progress.
    const latest = dateMs + 999 + Math.ceil(this.monotonicMs() - sentAtMs);
    const correctionMs = Math.min(Math.max(now, dateMs), latest) - now;
    const { estimatedSince } = this;
    if (estimatedSince !== null) {
      const offsetMs = correctionMs - this.computerErrorMs;
      this.store.transaction((tx) => {
        if (correctionMs !== 0) this.times.shift(tx, estimatedSince, correctionMs);
        this.times.save(tx, { offsetMs, estimatedSince: null });
      });
      this.savedOffsetMs = offsetMs;
      this.estimatedSince = null;
    }
    this.originMs += correctionMs;
  }

  /** Saves the difference from the computer's clock, for the next start, and logs when the clock is wrong. */
  checkComputerClock(): void {
    const offsetMs = this.isPlatformTimeKnown ? -this.computerErrorMs : this.savedOffsetMs;
    const { estimatedSince } = this;
    const saved = this.times.get();
    if (Math.abs(offsetMs - saved.offsetMs) >= MIN_SAVED_CHANGE_MS || estimatedSince !== saved.estimatedSince) {
      this.store.transaction((tx) => this.times.save(tx, { offsetMs, estimatedSince }));
      this.savedOffsetMs = offsetMs;
    }
    const isWrong = isClockWrong(this.computerErrorMs);
    if (isWrong !== this.wasWrong)
      this.log.warn(
        { errorMs: this.computerErrorMs },
        isWrong ? 'the clock of this computer is wrong' : 'the clock of this computer is right again',
      );
    this.wasWrong = isWrong;
  }
}

import { type Clock, DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { InFlightCalls } from './in-flight-calls.js';

/** Something that was made under an idempotency key. */
export interface Keyed {
  /** Of the request that made it: the same key with another one is refused. */
  readonly fingerprint: string;
}

/** A call with an idempotency key, and what it does. */
export interface IdempotentCall<T extends Keyed> {
  /** The key with its scope: equal for calls that are one. */
  readonly id: string;
  readonly fingerprint: string;
  /** When the client is answered whatever is known. */
  readonly until: Date;
  /** Finds what an earlier call with this key made, in its present state. */
  readonly find: () => Promise<T | undefined>;
  /** Commits what is made under this key, or throws and has changed nothing. */
  readonly make: () => Promise<void>;
  /** Runs with what was found or made. */
  readonly finish: (made: T) => Promise<T>;
}

/** Constraint and error of a kind of call. */
export interface IdempotencySettings {
  /** The unique constraint of the table of keys. */
  readonly constraint: string;
  /** For a call that has waited too long for another one with its key. */
  readonly inProgress: 'payment.in-progress' | 'refund.in-progress';
}

/**
 * The same key makes one thing, however often and to however many replicas it is sent (C7). In one process the first call
 * runs and the others wait in memory; between processes the key in the tables decides.
 */
export class IdempotentCalls<T extends Keyed> {
  private readonly inFlight = new InFlightCalls<{ made: T; replayed: boolean }>();

  constructor(
    private readonly settings: IdempotencySettings,
    private readonly clock: Clock,
  ) {}

  /** `replayed`: an earlier call with this key made it. */
  async once(call: IdempotentCall<T>): Promise<{ made: T; replayed: boolean }> {
    for (;;) {
      const running = this.inFlight.find(call.id);
      if (!running) return this.inFlight.start(call.id, () => this.makeOrFind(call));
      // A refused call has made nothing: then this one is the first.
      const earlier = await running.catch(() => undefined);
      if (earlier) return { made: sameRequest(earlier.made, call), replayed: true };
      if (this.clock.now() >= call.until) throw new DomainError(this.settings.inProgress, { retryAfterSeconds: 2 });
    }
  }

  private async makeOrFind(call: IdempotentCall<T>): Promise<{ made: T; replayed: boolean }> {
    const known = (await call.find()) ?? (await this.makeUnlessMade(call));
    const current = known ?? (await call.find());
    if (!current) throw new Error('What was just made under a key is not there.');
    return { made: await call.finish(sameRequest(current, call)), replayed: known !== undefined };
  }

  /** Returns it only where another replica made it under this key meanwhile. */
  private async makeUnlessMade(call: IdempotentCall<T>): Promise<T | undefined> {
    try {
      await call.make();
      return undefined;
    } catch (error) {
      // An equal call in another replica may have been first: its refund or payment refuses this one.
      if (!(error instanceof DomainError) && !isUniqueViolation(error, this.settings.constraint)) throw error;
      const made = await call.find();
      if (!made) throw error;
      return made;
    }
  }
}

function sameRequest<T extends Keyed>(made: T, { fingerprint }: Keyed): T {
  if (made.fingerprint !== fingerprint) throw new DomainError('request.idempotency-conflict');
  return made;
}

import { type Clock, DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { InFlightCalls } from './in-flight-calls.js';

/** The result stored under an idempotency key. */
interface IdempotentResult {
  /** Fingerprint of the request: the same key with another request is a conflict. */
  readonly fingerprint: string;
}

/** A call with an idempotency key. */
interface IdempotentCall<T extends IdempotentResult> {
  /** The idempotency key together with its scope, for example the merchant and the mode. */
  readonly id: string;
  readonly fingerprint: string;
  /** The client must get a response before this time, even if the call has not ended. */
  readonly deadline: Date;
  /** Finds the result of an earlier call with this key, in its current state. */
  readonly find: () => Promise<T | undefined>;
  /** Commits the result under this key, or throws without any change. */
  readonly create: () => Promise<void>;
  /** Continues with the found or created result, for example waits for the outcome of the payment. */
  readonly finish: (result: T) => Promise<T>;
}

/** Constraint and error code of a kind of call. */
interface IdempotencySettings {
  /** The unique constraint on the key. */
  readonly constraint: string;
  /** Error for a client whose call waits too long for another call with the same key. */
  readonly inProgress: 'payment.in-progress' | 'refund.in-progress';
}

/**
 * Each idempotency key has one result, even if the call is sent several times or to several replicas (C7). In one
 * process the first call runs, and later calls with the same key wait in memory. Between processes the unique
 * constraint decides.
 */
export class IdempotentCalls<T extends IdempotentResult> {
  private readonly inFlight = new InFlightCalls<{ result: T; replayed: boolean }>();

  constructor(
    private readonly settings: IdempotencySettings,
    private readonly clock: Clock,
  ) {}

  /** `replayed` is true when an earlier call with this key has created the result. */
  async runOncePerKey(call: IdempotentCall<T>): Promise<{ result: T; replayed: boolean }> {
    for (;;) {
      const running = this.inFlight.find(call.id);
      if (!running) return this.inFlight.start(call.id, () => this.findOrCreate(call));
      // A failed call has changed nothing, so the loop starts this call instead.
      const earlier = await running.catch(() => undefined);
      if (earlier) return { result: requireSameFingerprint(earlier.result, call), replayed: true };
      if (this.clock.now() >= call.deadline) throw new DomainError(this.settings.inProgress, { retryAfterSeconds: 2 });
    }
  }

  private async findOrCreate(call: IdempotentCall<T>): Promise<{ result: T; replayed: boolean }> {
    const existing = (await call.find()) ?? (await this.createUnlessFound(call));
    const current = existing ?? (await call.find());
    if (!current) throw new Error('The result of an idempotent call was not found after its creation.');
    return { result: await call.finish(requireSameFingerprint(current, call)), replayed: existing !== undefined };
  }

  /** Returns a result only when another replica has created this result under the key in the meantime. */
  private async createUnlessFound(call: IdempotentCall<T>): Promise<T | undefined> {
    try {
      await call.create();
      return undefined;
    } catch (error) {
      // A call with the same key may have been faster in another replica. The payment or refund of that call can be the
      // cause of this error.
      if (!(error instanceof DomainError) && !isUniqueViolation(error, this.settings.constraint)) throw error;
      const existing = await call.find();
      if (!existing) throw error;
      return existing;
    }
  }
}

function requireSameFingerprint<T extends IdempotentResult>(result: T, { fingerprint }: IdempotentResult): T {
  if (result.fingerprint !== fingerprint) throw new DomainError('request.idempotency-conflict');
  return result;
}

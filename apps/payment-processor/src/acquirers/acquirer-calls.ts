import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import pLimit from 'p-limit';
import { PaymentProcessorConfig } from '../config.js';

/** Bounds how many charges are at the acquirer at once, and how long each is waited for. */
@Injectable()
export class AcquirerCalls {
  private readonly limit: ReturnType<typeof pLimit>;

  constructor(
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {
    this.limit = pLimit(config.SVC_ACQUIRER_CONCURRENCY);
  }

  /** Waits for a free slot, and holds it while `work` runs. Returns undefined when none was free before `deadline`. */
  inSlot<T>(deadline: Date, work: () => Promise<T>): Promise<T | undefined> {
    return this.limit(async () => (this.clock.now() < deadline ? work() : undefined));
  }

  /** Ends the wait for one answer. */
  timeLimit(): AbortSignal {
    return AbortSignal.timeout(this.config.SVC_ACQUIRER_TIMEOUT_MS);
  }
}

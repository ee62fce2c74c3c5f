import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import pLimit from 'p-limit';
import { PaymentProcessorConfig } from '../config.js';

/** Permission for one charge. Returned by `release`, or when the variable that was declared with `using` goes out of scope. */
interface AcquirerPermit extends Disposable {
  release(): void;
}

/** Limits the concurrent charges of this process at the acquirer. */
@Injectable()
export class AcquirerPermits {
  private readonly limit: ReturnType<typeof pLimit>;

  constructor(
    @Inject(PaymentProcessorConfig) config: PaymentProcessorConfig,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.limit = pLimit(config.SVC_ACQUIRER_CONCURRENCY);
  }

  /** Waits for a free permit. Undefined if the permit was not free before the deadline. */
  async take(deadline: Date): Promise<AcquirerPermit | undefined> {
    const permit = await new Promise<AcquirerPermit>((resolve) => {
      void this.limit(() => new Promise<void>((release) => resolve({ release, [Symbol.dispose]: release })));
    });
    if (this.clock.now() < deadline) return permit;
    permit.release();
    return undefined;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import pLimit from 'p-limit';
import { PaymentProcessorConfig } from '../config.js';
import type { ChargeOutcome } from './acquirer.js';

/** Bounds how many charges are at the acquirer at once, how long each is waited for, and how long it may wait its turn. */
@Injectable()
export class AcquirerCalls {
  private readonly atAcquirer: ReturnType<typeof pLimit>;

  constructor(
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {
    this.atAcquirer = pLimit(config.SVC_ACQUIRER_CONCURRENCY);
  }

  make(deadline: Date, call: (signal: AbortSignal) => Promise<ChargeOutcome>): Promise<ChargeOutcome> {
    return this.atAcquirer(async () => {
      // Nobody waits for it any more, and it has not begun: it must not (Rule 5).
      if (this.clock.now() >= deadline) return { kind: 'notAttempted' };
      return call(AbortSignal.timeout(this.config.SVC_ACQUIRER_TIMEOUT_MS));
    });
  }
}

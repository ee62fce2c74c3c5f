import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import pLimit from 'p-limit';
import { PaymentProcessorConfig } from '../../config.js';
import type { ChargeRoute } from '../acquirers.js';
import { AcquirerCircuits } from './acquirer-circuits.js';
import { PerAcquirer } from './per-acquirer.js';

/** Permission for one charge. Returned by `release`, or when the variable that was declared with `using` goes out of scope. */
interface AcquirerPermit extends Disposable {
  /** True when the charge will end without a call, so that it did not wait for a free permit. */
  readonly isCircuitOpen: boolean;
  release(): void;
}

const PERMIT_WITHOUT_CALL: AcquirerPermit = {
  isCircuitOpen: true,
  release: () => undefined,
  [Symbol.dispose]: () => undefined,
};

/** The permits of one acquirer and mode. */
class PermitQueue {
  private readonly limit: ReturnType<typeof pLimit>;
  /** Each ends the wait of one charge without a permit for a call. */
  private readonly waiting = new Set<() => void>();

  constructor(concurrency: number) {
    this.limit = pLimit(concurrency);
  }

  get used(): number {
    return this.limit.activeCount;
  }

  get waiters(): number {
    return this.waiting.size;
  }

  take(): Promise<AcquirerPermit> {
    return new Promise((resolve) => {
      const endWait = (): void => resolve(PERMIT_WITHOUT_CALL);
      this.waiting.add(endWait);
      void this.limit(() => {
        // The wait has ended already, so nothing would release the permit.
        if (!this.waiting.delete(endWait)) return undefined;
        return new Promise<void>((release) => resolve({ isCircuitOpen: false, release, [Symbol.dispose]: release }));
      });
    });
  }

  endAllWaits(): void {
    for (const endWait of this.waiting) endWait();
    this.waiting.clear();
  }
}

/**
 * Limits the concurrent charges of this process, for each acquirer and mode separately: charges that wait for an
 * acquirer that does not respond leave the permits of the other acquirers free.
 */
@Injectable()
export class AcquirerPermits {
  private readonly queues: PerAcquirer<PermitQueue>;

  constructor(
    @Inject(PaymentProcessorConfig) config: PaymentProcessorConfig,
    @Inject(AcquirerCircuits) private readonly circuits: AcquirerCircuits,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.queues = new PerAcquirer(() => new PermitQueue(config.SVC_ACQUIRER_CONCURRENCY));
    circuits.addOpenListener((acquirer, mode) => this.queues.get(acquirer, mode).endAllWaits());
  }

  /**
   * Waits for a free permit, but not while the circuit is open: the charges in flight may hold all permits until their
   * timeout. Undefined if no permit was free before the deadline.
   */
  async take(route: ChargeRoute, deadline: Date): Promise<AcquirerPermit | undefined> {
    if (this.circuits.get(route).state === 'open') return PERMIT_WITHOUT_CALL;
    const permit = await this.queues.get(route.acquirer, route.account.mode).take();
    if (this.clock.now() < deadline) return permit;
    permit.release();
    return undefined;
  }

  entries(): ReturnType<PerAcquirer<Pick<PermitQueue, 'used' | 'waiters'>>['entries']> {
    return this.queues.entries();
  }
}

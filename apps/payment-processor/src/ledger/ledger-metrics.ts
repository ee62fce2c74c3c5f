import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock, observeMetrics } from '@svc/kernel';
import { SealRepository } from './seal.repository.js';

/** Reported when no transfer can be sealed. This value is far above every alarm threshold. */
const NEVER_SEALED_SECONDS = 86_400;

/** Reports the age of the oldest unsealed transfer; 0 when there is none. */
@Injectable()
export class LedgerMetrics implements OnModuleInit, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(
    @Inject(SealRepository) private readonly seals: SealRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.stop = observeMetrics(['svc.ledger.unsealed.age'], async (observe) =>
      observe('svc.ledger.unsealed.age', await this.readOldestUnsealedAge()),
    );
  }

  onModuleDestroy(): void {
    this.stop();
  }

  private async readOldestUnsealedAge(): Promise<number> {
    if (await this.seals.isSealedByAnotherServer()) return NEVER_SEALED_SECONDS;
    const oldest = await this.seals.findOldestUnsealed();
    return oldest ? Math.max(0, this.clock.now().getTime() - oldest.getTime()) / 1_000 : 0;
  }
}

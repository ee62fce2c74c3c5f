import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { metrics, type ObservableCallback } from '@opentelemetry/api';
import { Clock } from '@svc/kernel';
import { SealRepository } from './seal.repository.js';

/** Reported when no transfer can be sealed. This value is far above every alarm threshold. */
const NEVER_SEALED_SECONDS = 86_400;

/** `svc.ledger.unsealed.age`: age of the oldest unsealed transfer in seconds; 0 when there is none. */
@Injectable()
export class LedgerMetrics implements OnModuleInit, OnModuleDestroy {
  private readonly age = metrics
    .getMeter('@svc/payment-processor')
    .createObservableGauge('svc.ledger.unsealed.age', { unit: 's' });
  private readonly observe: ObservableCallback = async (result) => result.observe(await this.readOldestUnsealedAge());

  constructor(
    @Inject(SealRepository) private readonly seals: SealRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.age.addCallback(this.observe);
  }

  onModuleDestroy(): void {
    this.age.removeCallback(this.observe);
  }

  private async readOldestUnsealedAge(): Promise<number> {
    if (await this.seals.isSealedByAnotherServer()) return NEVER_SEALED_SECONDS;
    const oldest = await this.seals.findOldestUnsealed();
    return oldest ? Math.max(0, this.clock.now().getTime() - oldest.getTime()) / 1_000 : 0;
  }
}

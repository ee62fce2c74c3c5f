import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { Restores } from '@svc/messaging';
import { UnfinishedPaymentRepository } from './unfinished-payment.repository.js';

/**
 * Refuses everything that moves money or creates a payment while a restore of this database is open, because the bank may
 * have charged payments that the database does not contain (docs/backup.md).
 */
@Injectable()
export class RestoreGate implements OnModuleInit {
  constructor(
    @Inject(Restores) private readonly restores: Restores,
    @Inject(UnfinishedPaymentRepository) private readonly payments: UnfinishedPaymentRepository,
  ) {}

  /** Before the jobs of this service start: they end unfinished payments, whose versions must be new for other services. */
  async onModuleInit(): Promise<void> {
    const restore = await this.restores.findOpen();
    if (restore) await this.payments.prepare(restore.restoreId);
  }

  async isClosed(): Promise<boolean> {
    return (await this.restores.findOpen()) !== undefined;
  }

  async assertOpen(): Promise<void> {
    if (await this.isClosed()) throw new DomainError('service.not-ready', { retryAfterSeconds: 30 });
  }
}

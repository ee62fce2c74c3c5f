import { Inject, Injectable } from '@nestjs/common';
import type { PayableDescriptor, PayableSnapshot } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { PayableRepository } from './payable.repository.js';

/**
 * Prevents further payments of a payable (H2, D6). Closes an open payable, and throws for a reserved or paid payable.
 */
@Injectable()
export class ClosePayable {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PayableRepository) private readonly payables: PayableRepository,
  ) {}

  execute(descriptor: PayableDescriptor): Promise<PayableSnapshot> {
    return inTransaction(this.dataSource, (tx) => this.closeIn(tx, descriptor));
  }

  /** Closes the payable in the caller's transaction. The caller rolls the transaction back when this throws. */
  async closeIn(tx: Transaction, descriptor: PayableDescriptor): Promise<PayableSnapshot> {
    await this.payables.insertIfAbsent(tx, [descriptor]);
    const closed = await this.payables.close(tx, descriptor.payableId);
    if (closed) return closed;
    const current = await this.payables.find(descriptor.payableId, tx);
    switch (current?.state) {
      case 'closed':
      case 'refused':
        return {
          payableId: current.payableId,
          state: current.state,
          version: current.version,
          paymentCount: current.paymentCount,
        };
      case 'paid':
        throw new DomainError('payable.paid');
      default:
        throw new DomainError('payment.in-progress', { retryAfterSeconds: 2 });
    }
  }
}

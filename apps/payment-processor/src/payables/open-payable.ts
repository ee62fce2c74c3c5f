import { Inject, Injectable } from '@nestjs/common';
import type { OpenedPayable, OpenPayable as OpenPayableCommand } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { ClosePayable } from './close-payable.js';
import { PayableRepository } from './payable.repository.js';

/**
 * Opens a payable, and closes the payable that it replaces (D6), in one transaction. Therefore at most one
 * of the two can be paid, and nothing is opened when the replaced payable is reserved or paid.
 */
@Injectable()
export class OpenPayable {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PayableRepository) private readonly payables: PayableRepository,
    @Inject(ClosePayable) private readonly closePayable: ClosePayable,
  ) {}

  async execute({ payable, replaces }: OpenPayableCommand): Promise<OpenedPayable> {
    return inTransaction(this.dataSource, async (tx) => {
      const replaced = replaces && (await this.closePayable.closeIn(tx, replaces));
      await this.payables.insertIfAbsent(tx, [payable]);
      const current = await this.payables.find(payable.payableId, tx);
      if (!current) throw new Error('The payable was not found after its creation.');
      // A stored payable with the same id and another amount or currency is a different debt.
      if (current.amount !== payable.amount || current.currencyISOCode !== payable.currencyISOCode)
        throw new DomainError('payable.mismatch');
      const { payableId, state, version, paymentCount } = current;
      return { opened: { payableId, state, version, paymentCount }, ...(replaced ? { replaced } : {}) };
    });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { OpenedPayable, OpenPayable as OpenPayableCommand } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { ClosePayable } from './close-payable.js';
import { PayableRepository } from './payable.repository.js';

/**
 * Makes a debt payable, in place of another where it replaces one (D6). One transaction: at no time can both be paid,
 * and where the other one is reserved or paid nothing is opened.
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
      if (!current) throw new Error('A payable that was just made is not there.');
      // Somebody else's debt under the same id would be taken for this one.
      if (current.amount !== payable.amount || current.currencyISOCode !== payable.currencyISOCode)
        throw new DomainError('payable.mismatch');
      const { payableId, state, version, tries } = current;
      return { opened: { payableId, state, version, tries }, ...(replaced ? { replaced } : {}) };
    });
  }
}

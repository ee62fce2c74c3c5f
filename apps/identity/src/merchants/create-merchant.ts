import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { DEFAULT_MINIMUM_AMOUNT } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { type Merchant, merchantChanged } from './merchant.js';
import { insertMerchant } from './merchant.repository.js';

/** Creates a merchant without features and grants, and publishes it. */
@Injectable()
export class CreateMerchant {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, name: string): Promise<Merchant> {
    return inTransaction(this.dataSource, async (tx) => {
      const amountTerms = { minimumAmount: DEFAULT_MINIMUM_AMOUNT, maximumAmount: null };
      const settings = { name, features: {}, ...amountTerms, grants: [], fees: {} };
      const values = { ...settings, createdAt: this.clock.now(), version: 1 };
      const merchantId = await insertMerchant(tx, values);
      const merchant = { merchantId, ...values };
      await this.events.append(tx, merchantChanged(merchant));
      await this.auditLog.append(tx, author, { action: 'merchant.created', merchantId, after: { name } });
      return merchant;
    });
  }
}

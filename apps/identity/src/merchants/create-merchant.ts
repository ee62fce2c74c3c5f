import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { DEFAULT_MINIMUM_AMOUNT, DEFAULT_TIME_ZONE } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { type Merchant, merchantChanged } from './merchant.js';
import { insertMerchant } from './merchant.repository.js';
import type { CreateMerchantRequest } from './merchant.requests.js';

/** Creates a merchant without features and grants, and publishes it. */
@Injectable()
export class CreateMerchant {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, { name, timeZone }: CreateMerchantRequest): Promise<Merchant> {
    return inTransaction(this.dataSource, async (tx) => {
      const amountTerms = { minimumAmount: DEFAULT_MINIMUM_AMOUNT, maximumAmount: null };
      const timeZones = [{ zone: timeZone ?? DEFAULT_TIME_ZONE }];
      const settings = { name, features: {}, ...amountTerms, grants: [], fees: {}, timeZones };
      const values = { ...settings, createdAt: this.clock.now(), version: 1 };
      const merchantId = await insertMerchant(tx, values);
      const merchant = { merchantId, ...values };
      await this.events.append(tx, merchantChanged(merchant));
      const after = { name, ...(timeZone === undefined ? {} : { timeZone }) };
      await this.auditLog.append(tx, author, { action: 'merchant.created', merchantId, after });
      return merchant;
    });
  }
}

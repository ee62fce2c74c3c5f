import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { MerchantRow } from './merchant.row.js';

/** On-boards a merchant. No event: to other services a merchant exists through its sites and keys. */
@Injectable()
export class CreateMerchant {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, name: string): Promise<MerchantRow> {
    return inTransaction(this.dataSource, async (tx) => {
      const createdAt = this.clock.now();
      const { identifiers } = await tx.insert(MerchantRow, { name, createdAt });
      const { merchantId } = identifiers[0] as { merchantId: number };
      await this.auditLog.append(tx, author, { action: 'merchant.created', merchantId, after: { name } });
      return { merchantId, name, createdAt };
    });
  }
}

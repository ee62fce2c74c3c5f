import { Inject, Injectable } from '@nestjs/common';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { siteChanged } from '../sites/site.js';
import { advanceSitesOf } from '../sites/site.repository.js';
import { lockMerchant } from './merchant.repository.js';
import { MerchantRow } from './merchant.row.js';

/** Renames a merchant; each of its sites carries the name, so each is published again. */
@Injectable()
export class RenameMerchant {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, merchantId: number, name: string): Promise<MerchantRow> {
    return inTransaction(this.dataSource, async (tx) => {
      const before = await lockMerchant(tx, merchantId);
      if (before.name === name) return before;
      const merchant = { ...before, name };
      await tx.update(MerchantRow, { merchantId }, { name });
      const sites = await advanceSitesOf(tx, merchantId);
      await this.events.append(tx, ...sites.map((site) => siteChanged(merchant, site)));
      await this.auditLog.append(tx, author, {
        action: 'merchant.renamed',
        merchantId,
        before: { name: before.name },
        after: { name },
      });
      return merchant;
    });
  }
}

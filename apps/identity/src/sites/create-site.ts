import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { settleSettings, siteChanged, type SiteSettings, type SiteView } from './site.js';
import { refuseTakenReference, SITES_OF_MERCHANT_MAX } from './site.repository.js';
import { SiteRow } from './site.row.js';

/** Opens a site at a merchant and tells every service of it. */
@Injectable()
export class CreateSite {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, merchantId: number, given: SiteSettings): Promise<SiteView> {
    const settings = settleSettings(given);
    return inTransaction(this.dataSource, async (tx) => {
      const merchant = await lockMerchant(tx, merchantId);
      if ((await tx.countBy(SiteRow, { merchantId })) >= SITES_OF_MERCHANT_MAX) {
        throw new DomainError('resource.conflict', {
          message: `A merchant has at most ${SITES_OF_MERCHANT_MAX} sites.`,
        });
      }
      const { identifiers } = await tx
        .insert(SiteRow, { merchantId, ...settings, createdAt: this.clock.now(), version: 1 })
        .catch(refuseTakenReference);
      const { siteId } = identifiers[0] as { siteId: number };
      const site = { siteId, ...settings };
      await this.events.append(tx, siteChanged(merchant, { ...site, version: 1 }));
      await this.auditLog.append(tx, author, { action: 'site.created', merchantId, siteId, after: settings });
      return site;
    });
  }
}

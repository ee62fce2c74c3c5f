import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { changedSettings } from '../changed-settings.js';
import { IdentityConfig } from '../config.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import {
  normaliseSiteSettings,
  pickSettings,
  siteChanged,
  type SiteSettings,
  type SiteView,
  toSiteView,
  webhookUrlRules,
} from './site.js';
import { getSite, updateSite } from './site.repository.js';

/** Changes settings of a site and publishes them. Does nothing if no setting has a new value. */
@Injectable()
export class ChangeSite {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
  ) {}

  execute(author: ChangeAuthor, merchantId: number, siteId: number, changes: Partial<SiteSettings>): Promise<SiteView> {
    return inTransaction(this.dataSource, async (tx) => {
      const merchant = await lockMerchant(tx, merchantId);
      const before = await getSite(tx, merchantId, siteId);
      const settings = normaliseSiteSettings({ ...pickSettings(before), ...changes }, webhookUrlRules(this.config));
      const changed = changedSettings(pickSettings(before), settings);
      if (!changed) return toSiteView(before);

      const site = { siteId, ...settings, version: before.version + 1 };
      await updateSite(tx, merchantId, siteId, { ...settings, version: site.version });
      await this.events.append(tx, siteChanged(merchant, site));
      await this.auditLog.append(tx, author, { action: 'site.changed', merchantId, siteId, ...changed });
      return toSiteView(site);
    });
  }
}

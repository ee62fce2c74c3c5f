import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { IdentityConfig } from '../config.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { IssueWebhookSecret } from '../webhook-secrets/issue-webhook-secret.js';
import { normaliseSiteSettings, siteChanged, type SiteSettings, type SiteView, webhookUrlRules } from './site.js';
import { countSitesOfMerchant, insertSite, MAX_SITES_PER_MERCHANT } from './site.repository.js';

/** A new site with its webhook secrets. Only this response contains the secrets. */
export interface CreatedSite extends SiteView {
  /** The secret of each mode: `whsec_` and base64 of 32 bytes (E4). */
  readonly webhookSecrets: Readonly<Record<Mode, string>>;
}

/**
 * Creates a site of a merchant and publishes the site. Also creates a webhook secret for each mode, because a
 * notification is sent only if it can be signed (E4).
 */
@Injectable()
export class CreateSite {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
    @Inject(IssueWebhookSecret) private readonly issueWebhookSecret: IssueWebhookSecret,
  ) {}

  execute(author: ChangeAuthor, merchantId: number, requested: SiteSettings): Promise<CreatedSite> {
    const settings = normaliseSiteSettings(requested, webhookUrlRules(this.config));
    return inTransaction(this.dataSource, async (tx) => {
      const merchant = await lockMerchant(tx, merchantId);
      if ((await countSitesOfMerchant(tx, merchantId)) >= MAX_SITES_PER_MERCHANT) {
        throw new DomainError('resource.conflict', {
          message: `A merchant has at most ${MAX_SITES_PER_MERCHANT} sites.`,
        });
      }
      const siteId = await insertSite(tx, { merchantId, ...settings, createdAt: this.clock.now(), version: 1 });
      const site = { siteId, ...settings };
      await this.events.append(tx, siteChanged(merchant, { ...site, version: 1 }));
      await this.auditLog.append(tx, author, { action: 'site.created', merchantId, siteId, after: settings });
      const { webhookSecret: test } = await this.issueWebhookSecret.execute(tx, author, {
        merchantId,
        siteId,
        mode: 'test',
      });
      const { webhookSecret: live } = await this.issueWebhookSecret.execute(tx, author, {
        merchantId,
        siteId,
        mode: 'live',
      });
      return { ...site, webhookSecrets: { test, live } };
    });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { IdentityConfig } from '../config.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { IssueWebhookSecret } from '../webhook-secrets/issue-webhook-secret.js';
import { settleSettings, siteChanged, type SiteSettings, type SiteView, urlRulesOf } from './site.js';
import { countSitesOf, insertSite, SITES_OF_MERCHANT_MAX } from './site.repository.js';

/** A new site and, this once, its webhook secrets. */
export interface CreatedSite extends SiteView {
  /** Of each mode: `whsec_` and base64 of 32 bytes (E4). */
  readonly webhookSecrets: Readonly<Record<Mode, string>>;
}

/**
 * Opens a site at a merchant and publishes it. It has a webhook secret of each mode from the start: a payment whose
 * notification cannot be signed would never be reported to its merchant (E4).
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

  execute(author: ChangeAuthor, merchantId: number, given: SiteSettings): Promise<CreatedSite> {
    const settings = settleSettings(given, urlRulesOf(this.config));
    return inTransaction(this.dataSource, async (tx) => {
      const merchant = await lockMerchant(tx, merchantId);
      if ((await countSitesOf(tx, merchantId)) >= SITES_OF_MERCHANT_MAX) {
        throw new DomainError('resource.conflict', {
          message: `A merchant has at most ${SITES_OF_MERCHANT_MAX} sites.`,
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

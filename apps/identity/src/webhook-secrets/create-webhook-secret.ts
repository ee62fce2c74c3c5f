import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { getSite } from '../sites/site.repository.js';
import { type CreatedWebhookSecret, IssueWebhookSecret } from './issue-webhook-secret.js';
import { countValidWebhookSecrets } from './webhook-secret.repository.js';

/**
 * Maximum number of valid secrets of a site and mode. It is low because each valid secret adds a signature to every
 * notification (E4).
 */
const MAX_VALID_SECRETS = 5;

/** Creates a secret that signs a site's notifications (E4). Older secrets also sign until they are revoked. */
@Injectable()
export class CreateWebhookSecret {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(IssueWebhookSecret) private readonly issueWebhookSecret: IssueWebhookSecret,
  ) {}

  execute(author: ChangeAuthor, merchantId: number, siteId: number, mode: Mode): Promise<CreatedWebhookSecret> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockMerchant(tx, merchantId);
      await getSite(tx, merchantId, siteId);
      const validCount = await countValidWebhookSecrets(tx, merchantId, siteId, mode);
      if (validCount >= MAX_VALID_SECRETS) {
        throw new DomainError('resource.conflict', {
          message: `${MAX_VALID_SECRETS} secrets are valid: revoke one first.`,
        });
      }
      return this.issueWebhookSecret.execute(tx, author, { merchantId, siteId, mode });
    });
  }
}

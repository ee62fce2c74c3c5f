import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { endScheduled, type NewCredential } from '../new-credential.js';
import { getSite } from '../sites/site.repository.js';
import { type CreatedWebhookSecret, IssueWebhookSecret } from './issue-webhook-secret.js';
import { countValidWebhookSecrets, scheduleSecretEnd } from './webhook-secret.repository.js';

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
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.conflict` if too many secrets are valid, or the secret exists, and `resource.not-found`. */
  execute(
    author: ChangeAuthor,
    merchantId: number,
    siteId: number,
    mode: Mode,
    { credentialId, replaced }: NewCredential = {},
  ): Promise<CreatedWebhookSecret> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockMerchant(tx, merchantId);
      await getSite(tx, merchantId, siteId);
      const owner = { merchantId, siteId };
      const endsAt =
        replaced &&
        (await scheduleSecretEnd(tx, { ...owner, secretId: replaced.credentialId, mode, endsAt: replaced.endsAt }));
      if (replaced && !endsAt) throw new DomainError('resource.not-found');
      const validCount = await countValidWebhookSecrets(tx, merchantId, siteId, mode);
      if (validCount >= MAX_VALID_SECRETS) {
        throw new DomainError('resource.conflict', {
          message: `${MAX_VALID_SECRETS} secrets are valid: revoke one first.`,
        });
      }
      const secretId = credentialId === undefined ? {} : { secretId: credentialId };
      const created = await this.issueWebhookSecret.execute(tx, author, { ...owner, mode, ...secretId });
      if (replaced && endsAt)
        await this.auditLog.append(
          tx,
          author,
          endScheduled('webhook-secret.end-scheduled', owner, replaced.credentialId, endsAt),
        );
      return created;
    });
  }
}

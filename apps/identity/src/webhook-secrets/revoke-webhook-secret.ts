import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { signingSecretChanged, webhookSecretChanged } from './webhook-secret.js';
import { getWebhookSecret, revokeWebhookSecret } from './webhook-secret.repository.js';

/** Revokes a secret, so that notifications are no longer signed with it. */
@Injectable()
export class RevokeWebhookSecret {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /**
   * Does nothing if the secret is already revoked. Throws `resource.not-found`.
   *
   * @param mode the only mode in which the caller may revoke; any mode by default
   */
  async execute(
    author: ChangeAuthor,
    merchantId: number,
    siteId: number,
    secretId: string,
    mode?: Mode,
  ): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockMerchant(tx, merchantId);
      const secret = await getWebhookSecret(tx, merchantId, siteId, secretId);
      if (mode !== undefined && secret.mode !== mode) throw new DomainError('resource.not-found');
      if (secret.revokedAt) return;

      const revoked = await revokeWebhookSecret(tx, secret, this.clock.now());
      await this.events.appendAndPublish(tx, webhookSecretChanged(revoked), signingSecretChanged(revoked));
      await this.auditLog.append(tx, author, {
        action: 'webhook-secret.revoked',
        merchantId,
        siteId,
        credentialId: secretId,
        before: { revoked: false },
        after: { revoked: true },
      });
    });
  }
}

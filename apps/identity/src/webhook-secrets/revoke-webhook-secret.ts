import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { signingSecretChanged, webhookSecretChanged } from './webhook-secret.js';
import { WebhookSecretRow } from './webhook-secret.row.js';

/** Ends a secret for good: it no longer signs. */
@Injectable()
export class RevokeWebhookSecret {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.not-found`. Revoking again changes nothing. */
  async execute(author: ChangeAuthor, merchantId: number, siteId: number, secretId: string): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockMerchant(tx, merchantId);
      const secret = await tx.findOneBy(WebhookSecretRow, { merchantId, siteId, secretId });
      if (!secret) throw new DomainError('resource.not-found');
      if (secret.revokedAt) return;

      const change = { revokedAt: this.clock.now(), version: secret.version + 1 };
      await tx.update(WebhookSecretRow, { merchantId, siteId, secretId }, change);
      const revoked = { ...secret, ...change };
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

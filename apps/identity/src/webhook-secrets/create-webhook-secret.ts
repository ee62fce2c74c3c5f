import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource, IsNull } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { getSealingKey, seal } from '../sealing/seal.js';
import { getSite } from '../sites/site.repository.js';
import { newWebhookSecret, type WebhookSecret, webhookSecretChanged } from './webhook-secret.js';
import { WebhookSecretRow } from './webhook-secret.row.js';

/** Every valid secret adds a signature to each notification (E4). */
const VALID_SECRETS_MAX = 5;

/** A new secret and, this once, the secret itself. */
export interface CreatedWebhookSecret {
  readonly secretId: string;
  /** `whsec_` and base64 of 32 bytes. Shown once. */
  readonly webhookSecret: string;
  readonly mode: Mode;
}

/** Makes a secret that signs a site's notifications (E4) beside those it has, until they are revoked. */
@Injectable()
export class CreateWebhookSecret {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, merchantId: number, siteId: number, mode: Mode): Promise<CreatedWebhookSecret> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockMerchant(tx, merchantId);
      await getSite(tx, merchantId, siteId);
      const valid = await tx.countBy(WebhookSecretRow, { merchantId, siteId, mode, revokedAt: IsNull() });
      if (valid >= VALID_SECRETS_MAX) {
        throw new DomainError('resource.conflict', {
          message: `${VALID_SECRETS_MAX} secrets are valid: revoke one first.`,
        });
      }
      const webhookSecret = newWebhookSecret();
      const secret: WebhookSecret = {
        secretId: newUuid(this.clock),
        mode,
        merchantId,
        siteId,
        sealed: await seal(webhookSecret, await getSealingKey(tx)),
        createdAt: this.clock.now(),
        revokedAt: null,
        version: 1,
      };
      const { secretId } = secret;
      await tx.insert(WebhookSecretRow, secret);
      await this.events.append(tx, webhookSecretChanged(secret));
      await this.auditLog.append(tx, author, {
        action: 'webhook-secret.created',
        merchantId,
        siteId,
        credentialId: secretId,
        after: { mode },
      });
      return { secretId, webhookSecret, mode };
    });
  }
}

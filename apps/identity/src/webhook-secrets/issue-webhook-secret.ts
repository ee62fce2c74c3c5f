import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import type { Transaction } from '@svc/persistence';
import { AuditLog } from '../audit-log/audit-log.js';
import { seal } from '../sealing/seal.js';
import { getSealingKey } from '../sealing/sealing-key.repository.js';
import { newWebhookSecret, signingSecretChanged, type WebhookSecret, webhookSecretChanged } from './webhook-secret.js';
import { insertWebhookSecret } from './webhook-secret.repository.js';

/** A new webhook secret in a response. */
export interface CreatedWebhookSecret {
  readonly secretId: string;
  /** `whsec_` and base64 of 32 bytes. Shown only once. */
  readonly webhookSecret: string;
  readonly mode: Mode;
}

/** Inserts a new webhook secret (E4), its events and its audit entry, in the transaction of the caller. */
@Injectable()
export class IssueWebhookSecret {
  constructor(
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /**
   * The caller must have locked the merchant and checked that the site exists. Throws `service.not-ready` until
   * webhook-dispatcher has published its encryption key.
   */
  async execute(
    tx: Transaction,
    author: ChangeAuthor,
    {
      merchantId,
      siteId,
      mode,
      secretId = newUuid(this.clock),
    }: Pick<WebhookSecret, 'merchantId' | 'siteId' | 'mode'> & { secretId?: string },
  ): Promise<CreatedWebhookSecret> {
    const webhookSecret = newWebhookSecret();
    const secret: WebhookSecret = {
      secretId,
      mode,
      merchantId,
      siteId,
      sealed: await seal(webhookSecret, await getSealingKey(tx)),
      createdAt: this.clock.now(),
      endsAt: null,
      revokedAt: null,
      version: 1,
    };
    await insertWebhookSecret(tx, secret);
    await this.events.append(tx, webhookSecretChanged(secret), signingSecretChanged(secret));
    await this.auditLog.append(tx, author, {
      action: 'webhook-secret.created',
      merchantId,
      siteId,
      credentialId: secretId,
      after: { mode },
    });
    return { secretId, webhookSecret, mode };
  }
}

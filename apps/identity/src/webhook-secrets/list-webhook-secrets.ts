import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { getSite } from '../sites/site.repository.js';
import { toWebhookSecretView, type WebhookSecretView } from './webhook-secret.js';
import { listWebhookSecrets } from './webhook-secret.repository.js';

@Injectable()
export class ListWebhookSecrets {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Returns at most 100 secrets, the newest first, including revoked secrets. Throws `resource.not-found`. */
  async execute(merchantId: number, siteId: number): Promise<WebhookSecretView[]> {
    await getSite(this.dataSource.manager, merchantId, siteId);
    const secrets = await listWebhookSecrets(this.dataSource.manager, merchantId, siteId);
    return secrets.map(toWebhookSecretView);
  }
}

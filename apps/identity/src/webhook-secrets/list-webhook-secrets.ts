import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { getSite } from '../sites/site.repository.js';
import { showWebhookSecret, type WebhookSecretView } from './webhook-secret.js';
import { WebhookSecretRow } from './webhook-secret.row.js';

const SECRETS_LISTED_MAX = 100;

@Injectable()
export class ListWebhookSecrets {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Newest first, revoked ones included, at most 100. Throws `resource.not-found`. */
  async execute(merchantId: number, siteId: number): Promise<WebhookSecretView[]> {
    await getSite(this.dataSource.manager, merchantId, siteId);
    const secrets = await this.dataSource.manager.find(WebhookSecretRow, {
      where: { merchantId, siteId },
      order: { ordinal: 'DESC' },
      take: SECRETS_LISTED_MAX,
    });
    return secrets.map(showWebhookSecret);
  }
}

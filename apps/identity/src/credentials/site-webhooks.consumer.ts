import { Controller, Inject } from '@nestjs/common';
import {
  ChangeSiteWebhookV1,
  isText,
  MAX_URL_LENGTH,
  type PersonActor,
  ReadSiteWebhookV1,
  type SiteWebhookSettings,
} from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { readScope } from '../people/person/input.js';
import { AuthenticateActor } from '../people/sessions/authenticate-actor.js';
import { ChangeSite } from '../sites/change-site.js';
import { getSite } from '../sites/site.repository.js';

interface SiteWebhookRequest {
  readonly actor: PersonActor;
  readonly merchantId: number;
  readonly siteId: number;
}

/** The webhooks of sites, for the console. A repeated change changes nothing. */
@Controller()
export class SiteWebhooksConsumer {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(ChangeSite) private readonly changeSite: ChangeSite,
  ) {}

  @MessagePattern(ReadSiteWebhookV1)
  async read({ actor, merchantId, siteId }: SiteWebhookRequest): Promise<SiteWebhookSettings> {
    const scope = readScope({ merchantId, siteId });
    await this.actors.authorise(actor, 'webhooks.manage', scope);
    const { webhookUrl, webhookEnabled } = await getSite(this.dataSource.manager, merchantId, siteId);
    return { webhookUrl, webhookEnabled };
  }

  @MessagePattern(ChangeSiteWebhookV1)
  async change(request: SiteWebhookRequest & SiteWebhookSettings): Promise<SiteWebhookSettings> {
    const { actor, merchantId, siteId } = request;
    const scope = readScope({ merchantId, siteId });
    if (request.webhookUrl !== null && !isText(request.webhookUrl, MAX_URL_LENGTH))
      throw invalidField('webhookUrl', `webhookUrl must have 1 to ${MAX_URL_LENGTH} characters`);
    const { author } = await this.actors.authorise(actor, 'webhooks.manage', scope, { isConfirmed: true });
    const { webhookUrl, webhookEnabled } = await this.changeSite.execute(author, merchantId, siteId, {
      webhookUrl: request.webhookUrl,
      webhookEnabled: request.webhookEnabled,
    });
    return { webhookUrl, webhookEnabled };
  }
}

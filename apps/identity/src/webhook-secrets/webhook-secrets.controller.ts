import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { numericId, uuidId } from '../path-ids.js';
import { CreateWebhookSecret } from './create-webhook-secret.js';
import { CreateWebhookSecretRequest } from './create-webhook-secret.request.js';
import type { CreatedWebhookSecret } from './issue-webhook-secret.js';
import { ListWebhookSecrets } from './list-webhook-secrets.js';
import { RevokeWebhookSecret } from './revoke-webhook-secret.js';
import type { WebhookSecretView } from './webhook-secret.js';

/** Secrets that sign the notifications of a site (E4, A10). Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants/:merchantId/sites/:siteId/webhook-secrets')
@UseGuards(AdminKeyGuard)
export class WebhookSecretsController {
  constructor(
    @Inject(CreateWebhookSecret) private readonly createWebhookSecret: CreateWebhookSecret,
    @Inject(ListWebhookSecrets) private readonly listWebhookSecrets: ListWebhookSecrets,
    @Inject(RevokeWebhookSecret) private readonly revokeWebhookSecret: RevokeWebhookSecret,
  ) {}

  /**
   * Creates a secret that signs the notifications of a site (E4).
   *
   * @returns 201 The secret, shown only once.
   * @throws resource.not-found
   * @throws resource.conflict The site already has 5 valid secrets of this mode.
   * @throws service.not-ready webhook-dispatcher has not yet published its encryption key.
   */
  @Post()
  @Header('cache-control', 'no-store')
  create(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
    @Body() { mode }: CreateWebhookSecretRequest,
  ): Promise<CreatedWebhookSecret> {
    return this.createWebhookSecret.execute(author, merchantId, siteId, mode);
  }

  /**
   * Lists the webhook secrets of a site. The newest secret is first, revoked secrets are included, and at most 100
   * secrets are listed.
   *
   * @throws resource.not-found
   */
  @Get()
  async list(
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
  ): Promise<{ secrets: WebhookSecretView[] }> {
    return { secrets: await this.listWebhookSecrets.execute(merchantId, siteId) };
  }

  /**
   * Revokes a webhook secret.
   *
   * @returns 204 The secret is revoked. A secret that was revoked before stays revoked.
   * @throws resource.not-found
   */
  @Delete(':secretId')
  @HttpCode(204)
  revoke(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
    @Param('secretId', uuidId) secretId: string,
  ): Promise<void> {
    return this.revokeWebhookSecret.execute(author, merchantId, siteId, secretId);
  }
}

import { Module } from '@nestjs/common';
import { adminKeyFrom, deadLettersOf } from '@svc/auth';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { CreateApiKey } from './api-keys/create-api-key.js';
import { ListApiKeys } from './api-keys/list-api-keys.js';
import { RevokeApiKey } from './api-keys/revoke-api-key.js';
import { AuditLogController } from './audit-log/audit-log.controller.js';
import { AuditLog } from './audit-log/audit-log.js';
import { IdentityConfig } from './config.js';
import { CreateMerchant } from './merchants/create-merchant.js';
import { ListMerchants } from './merchants/list-merchants.js';
import { MerchantsController } from './merchants/merchants.controller.js';
import { RenameMerchant } from './merchants/rename-merchant.js';
import { SealingKeyConsumer } from './sealing/sealing-key.consumer.js';
import { ChangeSite } from './sites/change-site.js';
import { CreateSite } from './sites/create-site.js';
import { SitesController } from './sites/sites.controller.js';
import { CreateWebhookSecret } from './webhook-secrets/create-webhook-secret.js';
import { ListWebhookSecrets } from './webhook-secrets/list-webhook-secrets.js';
import { RevokeWebhookSecret } from './webhook-secrets/revoke-webhook-secret.js';
import { WebhookSecretsController } from './webhook-secrets/webhook-secrets.controller.js';

@Module({
  controllers: [
    MerchantsController,
    SitesController,
    ApiKeysController,
    WebhookSecretsController,
    AuditLogController,
    deadLettersOf('identity'),
    SealingKeyConsumer,
  ],
  providers: [
    adminKeyFrom(IdentityConfig),
    AuditLog,
    CreateMerchant,
    RenameMerchant,
    ListMerchants,
    CreateSite,
    ChangeSite,
    CreateApiKey,
    ListApiKeys,
    RevokeApiKey,
    CreateWebhookSecret,
    ListWebhookSecrets,
    RevokeWebhookSecret,
  ],
})
export class IdentityModule {}

import type { ServiceDefinition } from '@svc/service';
import { ApiKeyRow } from './api-keys/api-key.row.js';
import { IdentityModule } from './app.module.js';
import { IdentityConfig } from './config.js';
import { MerchantRow } from './merchants/merchant.row.js';
import { Identity1763500000100 } from './migrations/1763500000100-identity.js';
import { Partners1763500000110 } from './migrations/1763500000110-partners.js';
import { NoWebhookUrl1763500000120 } from './migrations/1763500000120-no-webhook-url.js';
import { PublishWebhookSecrets1763500000130 } from './migrations/1763500000130-publish-webhook-secrets.js';
import { LoginSuccesses1763500000131 } from './migrations/1763500000131-login-successes.js';
import { MinimumAmount1763500000132 } from './migrations/1763500000132-minimum-amount.js';
import { TellCustomers1763500000140 } from './migrations/1763500000140-tell-customers.js';
import { SiteWebhooks1763500000141 } from './migrations/1763500000141-site-webhooks.js';
import { MerchantFees1763500000142 } from './migrations/1763500000142-merchant-fees.js';
import { AppendOnlyAuditLog1763500000160 } from './migrations/1763500000160-append-only-audit-log.js';
import { MaximumAmount1763500000170 } from './migrations/1763500000170-maximum-amount.js';
import { AuditLogOfAllServices1763500000180 } from './migrations/1763500000180-audit-log-of-all-services.js';
import { OrganisationRow } from './organisations/organisation.row.js';
import { PartnerCredentialRow } from './partner-credentials/partner-credential.row.js';
import { SiteRow } from './sites/site.row.js';
import { WebhookSecretRow } from './webhook-secrets/webhook-secret.row.js';

/**
 * Stores partners, their users and customers, merchants, sites, and the credentials of all of them. Other services
 * receive these data as events.
 */
export const identityService: ServiceDefinition<IdentityConfig> = {
  name: 'identity',
  config: IdentityConfig,
  module: IdentityModule,
  entities: [MerchantRow, SiteRow, ApiKeyRow, WebhookSecretRow, OrganisationRow, PartnerCredentialRow],
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    Identity1763500000100,
    Partners1763500000110,
    NoWebhookUrl1763500000120,
    PublishWebhookSecrets1763500000130,
    LoginSuccesses1763500000131,
    MinimumAmount1763500000132,
    TellCustomers1763500000140,
    SiteWebhooks1763500000141,
    MerchantFees1763500000142,
    AppendOnlyAuditLog1763500000160,
    MaximumAmount1763500000170,
    AuditLogOfAllServices1763500000180,
  ],
};

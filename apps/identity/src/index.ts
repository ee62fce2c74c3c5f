import type { ServiceDefinition } from '@svc/service';
import { ApiKeyRow } from './api-keys/api-key.row.js';
import { IdentityModule } from './app.module.js';
import { IdentityConfig } from './config.js';
import { MerchantRow } from './merchants/merchant.row.js';
import { Schema1763500000100 } from './migrations/1763500000100-schema.js';
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
  // Oldest first. The names never change, because databases store them.
  migrations: [Schema1763500000100],
};

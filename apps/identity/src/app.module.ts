import { Module } from '@nestjs/common';
import { AuditTrail, OperatorKeys, PartnerCredentials, PartnerTokens, provideAdminKey } from '@svc/auth';
import { provideMailer } from '@svc/mail';
import { administrationControllers } from '@svc/service/administration';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { CreateApiKey } from './api-keys/create-api-key.js';
import { ListApiKeys } from './api-keys/list-api-keys.js';
import { RevokeApiKey } from './api-keys/revoke-api-key.js';
import { AdministeredConsumer } from './audit-log/administered.consumer.js';
import { AuditLogController } from './audit-log/audit-log.controller.js';
import { AuditLog } from './audit-log/audit-log.js';
import { IdentityConfig } from './config.js';
import { CredentialsConsumer } from './credentials/credentials.consumer.js';
import { CredentialsOfPeople } from './credentials/credentials-of-people.js';
import { EndReplacedCredentials } from './credentials/end-replaced-credentials.js';
import { SiteWebhooksConsumer } from './credentials/site-webhooks.consumer.js';
import { CustomerRepository } from './customers/customer.repository.js';
import { CustomersController } from './customers/customers.controller.js';
import { RegisterCustomer } from './customers/register-customer.js';
import { ErrorPagesController } from './error-pages/error-pages.controller.js';
import { SendHeartbeat } from './heartbeat/send-heartbeat.js';
import { LogInCustomer } from './logins/log-in-customer.js';
import { LogInService } from './logins/log-in-service.js';
import { LoginAttemptRepository } from './logins/login-attempt.repository.js';
import { LoginLimits } from './logins/login-limits.js';
import { ServiceLoginController } from './logins/service-login.controller.js';
import { ChangeMerchant } from './merchants/change-merchant.js';
import { CreateMerchant } from './merchants/create-merchant.js';
import { ListMerchants } from './merchants/list-merchants.js';
import { MerchantsController } from './merchants/merchants.controller.js';
import { CreateOrganisation } from './organisations/create-organisation.js';
import { OrganisationsController } from './organisations/organisations.controller.js';
import { RenameOrganisation } from './organisations/rename-organisation.js';
import { CreatePartnerCredential } from './partner-credentials/create-partner-credential.js';
import { ListPartnerCredentials } from './partner-credentials/list-partner-credentials.js';
import { PartnerCredentialsController } from './partner-credentials/partner-credentials.controller.js';
import { RevokePartnerCredential } from './partner-credentials/revoke-partner-credential.js';
import { PEOPLE_CONTROLLERS, PEOPLE_PROVIDERS } from './people/people.js';
import { ReferenceController } from './reference/reference.controller.js';
import { ReferenceFiles } from './reference/reference-files.js';
import { SealingKeyConsumer } from './sealing/sealing-key.consumer.js';
import { ChangeSite } from './sites/change-site.js';
import { CreateSite } from './sites/create-site.js';
import { SitesController } from './sites/sites.controller.js';
import { RotateTokenKeys } from './token-keys/rotate-token-keys.js';
import { SignToken } from './token-keys/sign-token.js';
import { JwksController, TokenKeysController } from './token-keys/token-keys.controller.js';
import { CreateUser } from './users/create-user.js';
import { PasswordQueue } from './users/password-queue.js';
import { UserRepository } from './users/user.repository.js';
import { UsersController } from './users/users.controller.js';
import { CreateWebhookSecret } from './webhook-secrets/create-webhook-secret.js';
import { IssueWebhookSecret } from './webhook-secrets/issue-webhook-secret.js';
import { ListWebhookSecrets } from './webhook-secrets/list-webhook-secrets.js';
import { RevokeWebhookSecret } from './webhook-secrets/revoke-webhook-secret.js';
import { WebhookSecretsController } from './webhook-secrets/webhook-secrets.controller.js';

@Module({
  controllers: [
    MerchantsController,
    SitesController,
    ApiKeysController,
    WebhookSecretsController,
    OrganisationsController,
    PartnerCredentialsController,
    TokenKeysController,
    JwksController,
    ServiceLoginController,
    UsersController,
    CustomersController,
    AuditLogController,
    ErrorPagesController,
    ReferenceController,
    ...administrationControllers('identity'),
    ...PEOPLE_CONTROLLERS,
    CredentialsConsumer,
    SiteWebhooksConsumer,
    SealingKeyConsumer,
    AdministeredConsumer,
  ],
  providers: [
    provideAdminKey(IdentityConfig),
    provideMailer(IdentityConfig),
    AuditLog,
    // The shared controllers append to the log of this service directly, without an event.
    { provide: AuditTrail, useExisting: AuditLog },
    CreateMerchant,
    ChangeMerchant,
    ListMerchants,
    CreateSite,
    ChangeSite,
    CreateApiKey,
    ListApiKeys,
    RevokeApiKey,
    IssueWebhookSecret,
    CreateWebhookSecret,
    ListWebhookSecrets,
    RevokeWebhookSecret,
    CredentialsOfPeople,
    EndReplacedCredentials,
    CreateOrganisation,
    RenameOrganisation,
    CreatePartnerCredential,
    ListPartnerCredentials,
    RevokePartnerCredential,
    RotateTokenKeys,
    SignToken,
    // AdminKeyGuard and PartnerGuard need these providers. In other services the providers read copies of identity's data. In this
    // service they read views of identity's own tables.
    OperatorKeys,
    PartnerCredentials,
    PartnerTokens,
    LogInService,
    LogInCustomer,
    LoginLimits,
    LoginAttemptRepository,
    CustomerRepository,
    UserRepository,
    PasswordQueue,
    CreateUser,
    RegisterCustomer,
    ...PEOPLE_PROVIDERS,
    SendHeartbeat,
    ReferenceFiles,
  ],
})
export class IdentityModule {}

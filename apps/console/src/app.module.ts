import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { OperatorKeysModule, provideAdminKey, provideAuditTrail } from '@svc/auth';
import { ConsoleAdministeredV1 } from '@svc/contracts';
import { provideMailer } from '@svc/mail';
import { rebuildableReadModel } from '@svc/messaging';
import { administrationControllers, createRebuildController } from '@svc/service/administration';
import type { FastifyInstance } from 'fastify';
import { AccountController } from './account/account.controller.js';
import { ConfirmController } from './account/confirm.controller.js';
import { PasskeysController } from './account/passkeys.controller.js';
import { ConsoleConfig } from './config.js';
import { CredentialsController } from './developers/credentials/credentials.controller.js';
import { DeliveriesController } from './developers/deliveries/deliveries.controller.js';
import { CallRetention } from './developers/failed-calls/call-retention.js';
import { FailedCallsConsumer } from './developers/failed-calls/failed-calls.consumer.js';
import { FailedCallsController } from './developers/failed-calls/failed-calls.controller.js';
import { WebhookController } from './developers/webhook/webhook.controller.js';
import { DisputesController } from './disputes/disputes.controller.js';
import { FilesController } from './home/files.controller.js';
import { HomeController } from './home/home.controller.js';
import { readForms } from './layout/forms.js';
import { LiveLists } from './live-lists/live-lists.js';
import { LookController } from './look/look.controller.js';
import { MerchantRepository } from './merchants/merchant.repository.js';
import { MerchantsConsumer } from './merchants/merchants.consumer.js';
import { AdministrationApi } from './operator/administration/administration-api.js';
import { AuditLogPagesController } from './operator/audit-log/audit-log.controller.js';
import { CasesController } from './operator/cases/cases.controller.js';
import { MerchantPagesController } from './operator/merchants/merchants.controller.js';
import { OperatorController } from './operator/operator.controller.js';
import { PartnerPagesController } from './operator/partners/partners.controller.js';
import { ReconciliationPagesController } from './operator/reconciliations/reconciliations.controller.js';
import { ServicesController } from './operator/services/services.controller.js';
import { SearchTimelines } from './operator/timeline/search-timelines.js';
import { TimelineController } from './operator/timeline/timeline.controller.js';
import { TimelinePagesController } from './operator/timeline/timeline-pages.controller.js';
import { PasskeyOrigin } from './passkeys/passkey-origin.js';
import { CustomerController } from './payment/customer.controller.js';
import { FindDeliveries } from './payment/find-deliveries.js';
import { PaymentController } from './payment/payment.controller.js';
import { PaymentPages } from './payment/payment-pages.js';
import { ReceiptController } from './payment/receipt.controller.js';
import { PaymentsController } from './payments/payments.controller.js';
import { PaymentRepository } from './read-model/payment.repository.js';
import { PaymentsConsumer } from './read-model/payments.consumer.js';
import { READ_MODEL } from './read-model/read-model.js';
import { RequestRepository } from './read-model/request.repository.js';
import { RequestsConsumer } from './read-model/requests.consumer.js';
import { RequestMailRepository } from './requests/mails/request-mail.repository.js';
import { SendRequestMail } from './requests/mails/send-request-mail.js';
import { RequestController } from './requests/request.controller.js';
import { RequestsController } from './requests/requests.controller.js';
import { SettlementsController } from './settlements/settlements.controller.js';
import { InvitationsController } from './sign-in/invitations.controller.js';
import { PasskeySignInController } from './sign-in/passkey-sign-in.controller.js';
import { SecondFactorController } from './sign-in/second-factor.controller.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { FindPeople } from './team/find-people.js';
import { PersonController } from './team/person.controller.js';
import { TeamController } from './team/team.controller.js';
import { FindUndelivered } from './today/find-undelivered.js';
import { TodayController } from './today/today.controller.js';
import { CustomerAccess } from './viewer/customer-access.js';
import { PersonSessions } from './viewer/person-sessions.js';
import { SessionCookie } from './viewer/session-cookie.js';

@Module({
  imports: [OperatorKeysModule],
  controllers: [
    HomeController,
    OperatorController,
    CasesController,
    ReconciliationPagesController,
    ServicesController,
    MerchantPagesController,
    PartnerPagesController,
    AuditLogPagesController,
    TimelinePagesController,
    SignInController,
    PasskeySignInController,
    SecondFactorController,
    AccountController,
    ConfirmController,
    PasskeysController,
    TeamController,
    PersonController,
    InvitationsController,
    FilesController,
    TodayController,
    PaymentsController,
    PaymentController,
    RequestsController,
    RequestController,
    DeliveriesController,
    CredentialsController,
    WebhookController,
    FailedCallsController,
    FailedCallsConsumer,
    SettlementsController,
    DisputesController,
    ReceiptController,
    CustomerController,
    LookController,
    PaymentsConsumer,
    RequestsConsumer,
    MerchantsConsumer,
    TimelineController,
    createRebuildController('console'),
    ...administrationControllers('console'),
  ],
  providers: [
    SessionCookie,
    PersonSessions,
    PasskeyOrigin,
    MerchantRepository,
    PaymentRepository,
    RequestRepository,
    LiveLists,
    FindDeliveries,
    FindUndelivered,
    RequestMailRepository,
    SendRequestMail,
    provideMailer(ConsoleConfig),
    CallRetention,
    PaymentPages,
    CustomerAccess,
    AdministrationApi,
    FindPeople,
    SearchTimelines,
    ...rebuildableReadModel(READ_MODEL),
    provideAdminKey(ConsoleConfig),
    provideAuditTrail(ConsoleAdministeredV1),
  ],
})
export class ConsoleModule implements OnModuleInit {
  constructor(@Inject(HttpAdapterHost) private readonly http: HttpAdapterHost) {}

  onModuleInit(): void {
    readForms(this.http.httpAdapter.getInstance<FastifyInstance>());
  }
}

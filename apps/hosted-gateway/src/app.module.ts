import { Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerOptions } from '@nestjs/throttler';
import {
  CredentialsConsumer,
  OperatorKeysModule,
  provideAdminKey,
  provideAuditTrail,
  provideFailedCalls,
  SiteCredentials,
} from '@svc/auth';
import { HostedGatewayAdministeredV1, RecordFailedCallsV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { provideMailer } from '@svc/mail';
import { ReadinessCheck } from '@svc/service';
import { administrationControllers } from '@svc/service/administration';
import { BooksConsumer } from './books/books.consumer.js';
import { AttackLevelsConsumer } from './challenge/attack-levels.consumer.js';
import { AttackLevels } from './challenge/attack-levels.js';
import { PayerChallenges } from './challenge/payer-challenges.js';
import { RecentDeclines } from './challenge/recent-declines.js';
import { UsedChallengeRepository } from './challenge/used-challenge.repository.js';
import { HostedGatewayConfig } from './config.js';
import { FindReceipt } from './console-commands/find-receipt.js';
import { LooksConsumer } from './console-commands/looks.consumer.js';
import { PreviewLook } from './console-commands/preview-look.js';
import { ReceiptsConsumer } from './console-commands/receipts.consumer.js';
import { CspReportsController, MAX_REPORTS_PER_MINUTE } from './csp-reports/csp-reports.controller.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { ChangeLook } from './looks/change-look.js';
import { CurrentLooks } from './looks/current-looks.js';
import { LogoFilesController } from './looks/logo-files.controller.js';
import { LookRepository } from './looks/look.repository.js';
import { LooksController } from './looks/looks.controller.js';
import { NotificationFeedController } from './notification-feed/notification-feed.controller.js';
import { ExtendSession } from './pay/extend-session.js';
import { CardKey } from './pay/page/card-key.js';
import { ShowPage } from './pay/page/show-page.js';
import { PayController } from './pay/pay.controller.js';
import { PayOnPage } from './pay/pay-on-page.js';
import { PagePayableRepository } from './pay/payables/page-payable.repository.js';
import { RefreshPayments } from './pay/payables/refresh-payments.js';
import { StateStreams } from './pay/state-streams.js';
import { InFlightPayments } from './payment-copies/in-flight-payments.js';
import { PaymentsController } from './payments/payments.controller.js';
import { ReadSessionController } from './payments/read-session.controller.js';
import type { ThrottlerName } from './rate-limit.guard.js';
import { ReceiptMailRepository } from './receipts/receipt-mail.repository.js';
import { ReceiptsController } from './receipts/receipts.controller.js';
import { SendReceipt } from './receipts/send-receipt.js';
import { CancelSession } from './sessions/cancel-session.js';
import { CreateSession } from './sessions/create-session.js';
import { SessionRepository } from './sessions/session.repository.js';
import { SessionsConsumer } from './sessions/sessions.consumer.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { FindMissingKeys } from './signing-keys/find-missing-keys.js';
import { SigningKeysConsumer } from './signing-keys/signing-keys.consumer.js';
import { SlidingWindow } from './sliding-window.js';
import { FindOpenInvoice } from './till-codes/find-open-invoice.js';
import { TillCodeRepository } from './till-codes/till-code.repository.js';
import { TillCodesConsumer } from './till-codes/till-codes.consumer.js';
import { TillInvoiceRepository } from './till-codes/till-invoice.repository.js';
import { TimelineConsumer } from './timeline/timeline.consumer.js';

@Module({
  imports: [
    OperatorKeysModule,
    ThrottlerModule.forRootAsync({
      inject: [HostedGatewayConfig, Clock],
      useFactory: (config: HostedGatewayConfig, clock: Clock) => ({
        // Each route group names its throttler by its guard (rate-limit.guard.ts).
        throttlers: [
          limitPerMinute('keyless', config.SVC_KEYLESS_CALLS_PER_MINUTE),
          limitPerMinute('payments', config.SVC_PAYMENTS_PER_MINUTE),
          limitPerMinute('deliveries', config.SVC_DELIVERIES_CALLS_PER_MINUTE),
          limitPerMinute('reports', MAX_REPORTS_PER_MINUTE),
        ],
        storage: new SlidingWindow(clock),
      }),
    }),
  ],
  controllers: [
    SessionsController,
    PaymentsController,
    ReadSessionController,
    NotificationFeedController,
    DeliveriesController,
    PayController,
    ReceiptsController,
    CspReportsController,
    LooksController,
    LogoFilesController,
    LooksConsumer,
    ReceiptsConsumer,
    AttackLevelsConsumer,
    SessionsConsumer,
    TillCodesConsumer,
    CredentialsConsumer,
    SigningKeysConsumer,
    BooksConsumer,
    TimelineConsumer,
    ...administrationControllers('hosted-gateway'),
  ],
  providers: [
    AttackLevels,
    RefreshPayments,
    CancelSession,
    CardKey,
    ChangeLook,
    CreateSession,
    CurrentLooks,
    ExtendSession,
    FindMissingKeys,
    FindOpenInvoice,
    FindReceipt,
    PayOnPage,
    PayerChallenges,
    RecentDeclines,
    UsedChallengeRepository,
    InFlightPayments,
    LookRepository,
    PreviewLook,
    ReceiptMailRepository,
    SendReceipt,
    SessionRepository,
    ShowPage,
    PagePayableRepository,
    SiteCredentials,
    TillCodeRepository,
    TillInvoiceRepository,
    StateStreams,
    { provide: ReadinessCheck, useExisting: CardKey },
    provideAdminKey(HostedGatewayConfig),
    provideAuditTrail(HostedGatewayAdministeredV1),
    provideFailedCalls(RecordFailedCallsV1),
    provideMailer(HostedGatewayConfig),
  ],
  exports: [ReadinessCheck],
})
export class HostedGatewayModule {}

function limitPerMinute(name: ThrottlerName, limit: number): ThrottlerOptions {
  return { name, limit, ttl: 60_000 };
}

import { Module } from '@nestjs/common';
import {
  ApiKeysConsumer,
  OperatorKeysModule,
  PartnerAuthModule,
  provideAdminKey,
  provideAuditTrail,
  provideFailedCalls,
} from '@svc/auth';
import { PaymentProcessorAdministeredV1, RecordFailedCallsV1 } from '@svc/contracts';
import { ConfigError, SERVICE_LOG, type ServiceLog } from '@svc/service';
import { administrationControllers } from '@svc/service/administration';
import type { Acquirer } from './acquirers/acquirer.js';
import { ACQUIRERS, Acquirers } from './acquirers/acquirers.js';
import { AdyenAcquirer } from './acquirers/adyen/adyen-acquirer.js';
import { ADYEN_SETTINGS, type AdyenSettingsByMode, readAdyenSettings } from './acquirers/adyen/adyen-config.js';
import { AcquirerCircuits } from './acquirers/availability/acquirer-circuits.js';
import { AcquirerMetrics } from './acquirers/availability/acquirer-metrics.js';
import { AcquirerPermits } from './acquirers/availability/acquirer-permits.js';
import { UnconfiguredAcquirersQuery } from './acquirers/availability/unconfigured-acquirers.query.js';
import { MerchantAccountRepository } from './acquirers/merchant-account.repository.js';
import { MerchantAccountsController } from './acquirers/merchant-accounts.controller.js';
import { SetMerchantAccount } from './acquirers/set-merchant-account.js';
import { SimulatedAcquirerClient } from './acquirers/simulated-acquirer.client.js';
import { BrowserDataController } from './browser-data/browser-data.controller.js';
import { ChargeWithBrowserData } from './browser-data/charge-with-browser-data.js';
import { CaptureRepository } from './captures/capture.repository.js';
import { RequestCaptures } from './captures/request-captures.js';
import { CardKeyRepository } from './card-data/card-key.repository.js';
import { CardKeysController } from './card-data/card-keys.controller.js';
import { CardKeys } from './card-data/card-keys.js';
import { RotateCardKey } from './card-data/rotate-card-key.js';
import { CardRepository } from './cards/card.repository.js';
import { CardsController } from './cards/cards.controller.js';
import { DeleteCard } from './cards/delete-card.js';
import { StoreCard } from './cards/store-card.js';
import { PaymentProcessorConfig } from './config.js';
import { AdminDisputesController } from './disputes/admin-disputes.controller.js';
import { AdminDisputesQuery } from './disputes/admin-disputes.query.js';
import { ApplyDisputeReport } from './disputes/apply-dispute-report.js';
import { DisputeRepository } from './disputes/dispute.repository.js';
import { DisputeMetrics } from './disputes/dispute-metrics.js';
import { DisputesController } from './disputes/disputes.controller.js';
import { ListDisputesQuery } from './disputes/list-disputes.query.js';
import { ChargeCard } from './hosted-payments/charge-card.js';
import { ChargeInvoice } from './hosted-payments/charge-invoice.js';
import { HostedPaymentsConsumer } from './hosted-payments/hosted-payments.consumer.js';
import { CheckPayments } from './jobs/check-payments.js';
import { CleanupJob } from './jobs/cleanup-job.js';
import { RecoverAttempts } from './jobs/recover-attempts.js';
import { LedgerController } from './ledger/ledger.controller.js';
import { LedgerCheckQuery } from './ledger/ledger-check.query.js';
import { LedgerMetrics } from './ledger/ledger-metrics.js';
import { SealRepository } from './ledger/seal.repository.js';
import { SealLedger } from './ledger/seal-ledger.js';
import { VerifyLedger } from './ledger/verify-ledger.js';
import { MerchantCalendarQuery } from './merchants/merchant-calendar.query.js';
import { MerchantTermsQuery } from './merchants/merchant-terms.query.js';
import { MerchantsConsumer } from './merchants/merchants.consumer.js';
import { OpenCasesController } from './open-cases/open-cases.controller.js';
import { OpenCasesQuery } from './open-cases/open-cases.query.js';
import { CustomersConsumer } from './partner-payments/customers.consumer.js';
import { MakePayment } from './partner-payments/make-payment.js';
import { PartnerPaymentRepository } from './partner-payments/partner-payment.repository.js';
import { PartnerPaymentsController } from './partner-payments/partner-payments.controller.js';
import { PaymentMethods } from './partner-payments/payment-method.js';
import { ResolveCode } from './partner-payments/resolve-code.js';
import { ClosePayable } from './payables/close-payable.js';
import { OpenPayable } from './payables/open-payable.js';
import { PayableRepository } from './payables/payable.repository.js';
import { PayablesConsumer } from './payables/payables.consumer.js';
import { BankReturnUrls } from './payer-urls/bank-return-urls.js';
import { BrowserDataUrls } from './payer-urls/browser-data-urls.js';
import { AttemptRepository } from './payments/attempt.repository.js';
import { ChargeAttempt } from './payments/charge-attempt.js';
import { PaymentRepository } from './payments/payment.repository.js';
import { PaymentOutcomes } from './payments/payment-outcomes.js';
import { SettleAttempt } from './payments/settle-attempt.js';
import { ReconciliationBooks } from './reconciliation/books/books.js';
import { DayTotalsQuery } from './reconciliation/day-totals.query.js';
import { ReconcileDay } from './reconciliation/reconcile-day.js';
import { ReconciliationRepository } from './reconciliation/reconciliation.repository.js';
import { ReconciliationJob } from './reconciliation/reconciliation-job.js';
import { ReconciliationMetrics } from './reconciliation/reconciliation-metrics.js';
import { ReconciliationsController } from './reconciliation/reconciliations.controller.js';
import { ReversalNotificationsQuery } from './reconciliation/reversal-notifications.query.js';
import { StatementRepository } from './reconciliation/statement.repository.js';
import { AdminRefundsController } from './refunds/administration/admin-refunds.controller.js';
import { AdminRefundsQuery } from './refunds/administration/admin-refunds.query.js';
import { CreateRefund } from './refunds/create-refund.js';
import { RecoverRefunds } from './refunds/recover-refunds.js';
import { RefundRepository } from './refunds/refund.repository.js';
import { RefundsConsumer } from './refunds/refunds.consumer.js';
import { RefundsController } from './refunds/refunds.controller.js';
import { SendRefund } from './refunds/send-refund.js';
import { SettleRefund } from './refunds/settle-refund.js';
import { AdyenNotificationsController } from './reports/adyen-notifications.controller.js';
import { ApplyReport } from './reports/apply-report.js';
import { ApplyReports } from './reports/apply-reports.js';
import { ReportRepository } from './reports/report.repository.js';
import { RestoreGate } from './restore-gate/restore-gate.js';
import { UnfinishedPaymentRepository } from './restore-gate/unfinished-payment.repository.js';
import { FindForgottenMovements } from './restores/find-forgotten-movements.js';
import { FindReports } from './restores/find-reports.js';
import { ForgottenChargeRepository } from './restores/forgotten-charges/forgotten-charge.repository.js';
import { ReverseForgottenCharges } from './restores/forgotten-charges/reverse-forgotten-charges.js';
import { OpenAfterRestore } from './restores/open-after-restore.js';
import { RepairAfterRestore } from './restores/repair-after-restore.js';
import { RestoreRepository } from './restores/restore.repository.js';
import { RestoreStatusQuery } from './restores/restore-status.query.js';
import { RestoresController } from './restores/restores.controller.js';
import { ReturnedPayersController } from './returned-payers/returned-payers.controller.js';
import { ReversalRepository } from './reversals/reversal.repository.js';
import { AdminSettlementReportsController } from './settlement-reports/admin-settlement-reports.controller.js';
import { AdminSettlementReportsQuery } from './settlement-reports/admin-settlement-reports.query.js';
import { ReadSettlementReports } from './settlement-reports/read-settlement-reports.js';
import { SettlementLineRepository } from './settlement-reports/settlement-line.repository.js';
import { SettlementReportMetrics } from './settlement-reports/settlement-report-metrics.js';
import { AdminSettlementsController } from './settlements/admin-settlements.controller.js';
import { BalanceRepository } from './settlements/periods/balance.repository.js';
import { Balances } from './settlements/periods/balances.js';
import { PeriodsConsumer } from './settlements/periods/periods.consumer.js';
import { ReadPeriods } from './settlements/periods/read-periods.js';
import { SettlementRepository } from './settlements/settlement.repository.js';
import { SettlementStatements } from './settlements/settlement-statements.js';
import { SettlementsController } from './settlements/settlements.controller.js';
import { TimelineConsumer } from './timeline/timeline.consumer.js';
import { AdministeredCounterRepository } from './velocity/administration/administered-counter.repository.js';
import { ChangeCounter } from './velocity/administration/change-counter.js';
import { SetVelocityLimits } from './velocity/administration/set-velocity-limits.js';
import { VelocityCountersController } from './velocity/administration/velocity-counters.controller.js';
import { VelocityLimitsController } from './velocity/administration/velocity-limits.controller.js';
import { AttackMetrics } from './velocity/attack-levels/attack-metrics.js';
import { AttackedSiteRepository } from './velocity/attack-levels/attacked-site.repository.js';
import { WatchSite } from './velocity/attack-levels/watch-site.js';
import { CardFingerprintRepository } from './velocity/card-fingerprint.repository.js';
import { CardFingerprints } from './velocity/card-fingerprints.js';
import { DeleteExpiredCounters } from './velocity/counters/delete-expired-counters.js';
import { VelocityCounterRepository } from './velocity/counters/velocity-counter.repository.js';
import { LimitCardStorage } from './velocity/limit-card-storage.js';
import { RecentApprovals } from './velocity/recent-approvals.js';
import { VelocityChecks } from './velocity/velocity-checks.js';
import { VelocityEnds } from './velocity/velocity-ends.js';
import { VelocityGuard } from './velocity/velocity-guard.js';
import { VelocityPolicyRepository } from './velocity/velocity-policy.repository.js';
import { FinishVerification } from './verifications/finish-verification.js';
import { VerificationRepository } from './verifications/verification.repository.js';

@Module({
  imports: [PartnerAuthModule, OperatorKeysModule],
  controllers: [
    PartnerPaymentsController,
    CardsController,
    CardKeysController,
    MerchantAccountsController,
    VelocityCountersController,
    VelocityLimitsController,
    AdyenNotificationsController,
    RefundsController,
    RefundsConsumer,
    AdminRefundsController,
    DisputesController,
    AdminDisputesController,
    OpenCasesController,
    SettlementsController,
    PeriodsConsumer,
    AdminSettlementsController,
    AdminSettlementReportsController,
    ReconciliationsController,
    RestoresController,
    LedgerController,
    ReturnedPayersController,
    BrowserDataController,
    PayablesConsumer,
    HostedPaymentsConsumer,
    MerchantsConsumer,
    ApiKeysConsumer,
    CustomersConsumer,
    TimelineConsumer,
    ...administrationControllers('payment-processor'),
  ],
  providers: [
    AcquirerCircuits,
    AcquirerMetrics,
    AcquirerPermits,
    Acquirers,
    AdminDisputesQuery,
    OpenCasesQuery,
    AdminRefundsQuery,
    AdminSettlementReportsQuery,
    ApplyReport,
    ApplyReports,
    ApplyDisputeReport,
    AttemptRepository,
    BalanceRepository,
    Balances,
    BankReturnUrls,
    BrowserDataUrls,
    CaptureRepository,
    ReconciliationBooks,
    CardKeyRepository,
    CardKeys,
    CardRepository,
    ChargeAttempt,
    ChargeCard,
    ChargeInvoice,
    ChargeWithBrowserData,
    CheckPayments,
    CleanupJob,
    ClosePayable,
    CreateRefund,
    DayTotalsQuery,
    DeleteCard,
    DisputeMetrics,
    DisputeRepository,
    FindForgottenMovements,
    FindReports,
    FinishVerification,
    ForgottenChargeRepository,
    LedgerMetrics,
    ListDisputesQuery,
    MakePayment,
    MerchantAccountRepository,
    SetMerchantAccount,
    MerchantCalendarQuery,
    MerchantTermsQuery,
    OpenAfterRestore,
    OpenPayable,
    PartnerPaymentRepository,
    PayableRepository,
    PaymentMethods,
    ResolveCode,
    PaymentRepository,
    ReadPeriods,
    ReadSettlementReports,
    ReconcileDay,
    ReconciliationJob,
    ReconciliationMetrics,
    ReconciliationRepository,
    RecoverAttempts,
    RecoverRefunds,
    RefundRepository,
    ReportRepository,
    RepairAfterRestore,
    RequestCaptures,
    RestoreGate,
    RestoreRepository,
    RestoreStatusQuery,
    ReverseForgottenCharges,
    ReversalNotificationsQuery,
    ReversalRepository,
    RotateCardKey,
    SealLedger,
    SealRepository,
    SendRefund,
    PaymentOutcomes,
    SettleAttempt,
    SettleRefund,
    SettlementLineRepository,
    SettlementReportMetrics,
    SettlementRepository,
    SettlementStatements,
    StatementRepository,
    StoreCard,
    AdministeredCounterRepository,
    AttackedSiteRepository,
    AttackMetrics,
    ChangeCounter,
    DeleteExpiredCounters,
    SetVelocityLimits,
    CardFingerprintRepository,
    CardFingerprints,
    LimitCardStorage,
    RecentApprovals,
    WatchSite,
    UnconfiguredAcquirersQuery,
    UnfinishedPaymentRepository,
    VelocityChecks,
    VelocityCounterRepository,
    VelocityEnds,
    VelocityGuard,
    VelocityPolicyRepository,
    VerificationRepository,
    LedgerCheckQuery,
    VerifyLedger,
    // Each acquirer is also a provider of its own, so that Nest calls its lifecycle methods.
    {
      provide: SimulatedAcquirerClient,
      inject: [PaymentProcessorConfig],
      useFactory: (config: PaymentProcessorConfig) => SimulatedAcquirerClient.from(config),
    },
    {
      provide: ADYEN_SETTINGS,
      inject: [PaymentProcessorConfig],
      useFactory: (config: PaymentProcessorConfig) => {
        const settings = readAdyenSettings(config);
        if (config.SVC_ACQUIRER_LIVE === 'adyen' && !settings.live)
          throw new ConfigError('SVC_ACQUIRER_LIVE is adyen, so the settings SVC_ADYEN_LIVE_… are required.');
        return settings;
      },
    },
    {
      provide: AdyenAcquirer,
      inject: [ADYEN_SETTINGS, SERVICE_LOG],
      useFactory: (settings: AdyenSettingsByMode, log: ServiceLog) => new AdyenAcquirer(settings, log),
    },
    {
      provide: ACQUIRERS,
      inject: [SimulatedAcquirerClient, AdyenAcquirer],
      useFactory: (...acquirers: Acquirer[]): readonly Acquirer[] =>
        acquirers.filter((acquirer) => acquirer.supportsMode('test') || acquirer.supportsMode('live')),
    },
    provideAdminKey(PaymentProcessorConfig),
    provideAuditTrail(PaymentProcessorAdministeredV1),
    provideFailedCalls(RecordFailedCallsV1),
  ],
})
export class PaymentProcessorModule {}

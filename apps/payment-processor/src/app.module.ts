import { Module } from '@nestjs/common';
import { ApiKeysConsumer, PartnerAuthModule, provideAdminKey, provideAuditTrail } from '@svc/auth';
import { PaymentProcessorAdministeredV1 } from '@svc/contracts';
import { createDeadLettersController } from '@svc/service/administration';
import { Acquirer } from './acquirers/acquirer.js';
import { AcquirerPermits } from './acquirers/acquirer-permits.js';
import { Acquirers } from './acquirers/acquirers.js';
import { MerchantAccountRepository } from './acquirers/merchant-account.repository.js';
import { MerchantAccountsController } from './acquirers/merchant-accounts.controller.js';
import { SetMerchantAccount } from './acquirers/set-merchant-account.js';
import { SimulatedAcquirerClient } from './acquirers/simulated-acquirer.client.js';
import { CardKeyRepository } from './card-data/card-key.repository.js';
import { CardKeysController } from './card-data/card-keys.controller.js';
import { CardKeys } from './card-data/card-keys.js';
import { RotateCardKey } from './card-data/rotate-card-key.js';
import { CardRepository } from './cards/card.repository.js';
import { CardsController } from './cards/cards.controller.js';
import { DeleteCard } from './cards/delete-card.js';
import { StoreCard } from './cards/store-card.js';
import { PaymentProcessorConfig } from './config.js';
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
import { MerchantTermsQuery } from './merchants/merchant-terms.query.js';
import { MerchantsConsumer } from './merchants/merchants.consumer.js';
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
import { AttemptRepository } from './payments/attempt.repository.js';
import { ChargeAttempt } from './payments/charge-attempt.js';
import { PaymentRepository } from './payments/payment.repository.js';
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
import { AdminRefundsController } from './refunds/admin-refunds.controller.js';
import { AdminRefundsQuery } from './refunds/admin-refunds.query.js';
import { CreateRefund } from './refunds/create-refund.js';
import { RecoverRefunds } from './refunds/recover-refunds.js';
import { RefundRepository } from './refunds/refund.repository.js';
import { RefundsController } from './refunds/refunds.controller.js';
import { SendRefund } from './refunds/send-refund.js';
import { SettleRefund } from './refunds/settle-refund.js';
import { ReturnedPayersController } from './returned-payers/returned-payers.controller.js';
import { ReversalRepository } from './reversals/reversal.repository.js';
import { AdminSettlementsController } from './settlements/admin-settlements.controller.js';
import { SettlementRepository } from './settlements/settlement.repository.js';
import { SettlementStatements } from './settlements/settlement-statements.js';
import { SettlementsController } from './settlements/settlements.controller.js';
import { FinishVerification } from './verifications/finish-verification.js';
import { VerificationRepository } from './verifications/verification.repository.js';

@Module({
  imports: [PartnerAuthModule],
  controllers: [
    PartnerPaymentsController,
    CardsController,
    CardKeysController,
    MerchantAccountsController,
    RefundsController,
    AdminRefundsController,
    SettlementsController,
    AdminSettlementsController,
    ReconciliationsController,
    LedgerController,
    ReturnedPayersController,
    PayablesConsumer,
    HostedPaymentsConsumer,
    MerchantsConsumer,
    ApiKeysConsumer,
    CustomersConsumer,
    createDeadLettersController('payment-processor'),
  ],
  providers: [
    AcquirerPermits,
    Acquirers,
    AdminRefundsQuery,
    AttemptRepository,
    ReconciliationBooks,
    CardKeyRepository,
    CardKeys,
    CardRepository,
    ChargeAttempt,
    ChargeCard,
    ChargeInvoice,
    CheckPayments,
    CleanupJob,
    ClosePayable,
    CreateRefund,
    DayTotalsQuery,
    DeleteCard,
    FinishVerification,
    LedgerMetrics,
    MakePayment,
    MerchantAccountRepository,
    SetMerchantAccount,
    MerchantTermsQuery,
    OpenPayable,
    PartnerPaymentRepository,
    PayableRepository,
    PaymentMethods,
    ResolveCode,
    PaymentRepository,
    ReconcileDay,
    ReconciliationJob,
    ReconciliationMetrics,
    ReconciliationRepository,
    RecoverAttempts,
    RecoverRefunds,
    RefundRepository,
    ReversalNotificationsQuery,
    ReversalRepository,
    RotateCardKey,
    SealLedger,
    SealRepository,
    SendRefund,
    SettleAttempt,
    SettleRefund,
    SettlementRepository,
    SettlementStatements,
    StatementRepository,
    StoreCard,
    VerificationRepository,
    LedgerCheckQuery,
    VerifyLedger,
    {
      provide: Acquirer,
      inject: [PaymentProcessorConfig],
      useFactory: (config: PaymentProcessorConfig): Acquirer => SimulatedAcquirerClient.from(config),
    },
    provideAdminKey(PaymentProcessorConfig),
    provideAuditTrail(PaymentProcessorAdministeredV1),
  ],
})
export class PaymentProcessorModule {}

import { Module } from '@nestjs/common';
import { adminKeyFrom, deadLettersOf, PartnerAuthModule } from '@svc/auth';
import { Acquirer } from './acquirers/acquirer.js';
import { AcquirerCalls } from './acquirers/acquirer-calls.js';
import { SimulatedAcquirerClient } from './acquirers/simulated-acquirer.client.js';
import { CardKeys } from './card-data/card-keys.js';
import { CardRepository } from './cards/card.repository.js';
import { CardsController } from './cards/cards.controller.js';
import { DeleteCard } from './cards/delete-card.js';
import { StoreCard } from './cards/store-card.js';
import { PaymentProcessorConfig } from './config.js';
import { MerchantsConsumer } from './merchants/merchants.consumer.js';
import { MakePayment } from './partner-payments/make-payment.js';
import { PartnerPaymentRepository } from './partner-payments/partner-payment.repository.js';
import { PartnerPaymentsController } from './partner-payments/partner-payments.controller.js';
import { PaymentMethods } from './partner-payments/payment-method.js';
import { ClosePayable } from './payables/close-payable.js';
import { OpenPayable } from './payables/open-payable.js';
import { PayableRepository } from './payables/payable.repository.js';
import { PayablesConsumer } from './payables/payables.consumer.js';
import { ChargeCard } from './payments/charge-card.js';
import { CheckPayments } from './payments/check-payments.js';
import { PaymentRepository } from './payments/payment.repository.js';
import { PaymentsConsumer } from './payments/payments.consumer.js';
import { RecoverAttempts } from './payments/recover-attempts.js';
import { SettleAttempt } from './payments/settle-attempt.js';
import { ClearUp } from './reversals/clear-up.js';
import { ReversalRepository } from './reversals/reversal.repository.js';
import { FinishVerification } from './verifications/finish-verification.js';
import { VerificationsController } from './verifications/verifications.controller.js';
import { VerificationRepository } from './verifications/verification.repository.js';

@Module({
  imports: [PartnerAuthModule],
  controllers: [
    PartnerPaymentsController,
    CardsController,
    VerificationsController,
    PayablesConsumer,
    PaymentsConsumer,
    MerchantsConsumer,
    deadLettersOf('payment-processor'),
  ],
  providers: [
    AcquirerCalls,
    CardKeys,
    CardRepository,
    ChargeCard,
    CheckPayments,
    ClearUp,
    ClosePayable,
    DeleteCard,
    FinishVerification,
    MakePayment,
    OpenPayable,
    PartnerPaymentRepository,
    PayableRepository,
    PaymentMethods,
    PaymentRepository,
    RecoverAttempts,
    ReversalRepository,
    SettleAttempt,
    StoreCard,
    VerificationRepository,
    {
      provide: Acquirer,
      inject: [PaymentProcessorConfig],
      useFactory: (config: PaymentProcessorConfig) =>
        new SimulatedAcquirerClient(config.SVC_ACQUIRER_URL, config.SVC_ACQUIRER_CONCURRENCY),
    },
    adminKeyFrom(PaymentProcessorConfig),
  ],
})
export class PaymentProcessorModule {}

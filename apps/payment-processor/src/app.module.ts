import { Module } from '@nestjs/common';
import { adminKeyFrom, deadLettersOf } from '@svc/auth';
import { Acquirer } from './acquirers/acquirer.js';
import { AcquirerCalls } from './acquirers/acquirer-calls.js';
import { SimulatedAcquirerClient } from './acquirers/simulated-acquirer.client.js';
import { CardKeys } from './card-data/card-keys.js';
import { PaymentProcessorConfig } from './config.js';
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
import { VerificationRepository } from './verifications/verification.repository.js';

@Module({
  controllers: [PayablesConsumer, PaymentsConsumer, deadLettersOf('payment-processor')],
  providers: [
    AcquirerCalls,
    CardKeys,
    ChargeCard,
    CheckPayments,
    ClearUp,
    ClosePayable,
    FinishVerification,
    OpenPayable,
    PayableRepository,
    PaymentRepository,
    RecoverAttempts,
    ReversalRepository,
    SettleAttempt,
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

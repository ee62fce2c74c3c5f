import { Module } from '@nestjs/common';
import { adminKeyFrom, deadLettersOf, PartnerAuthModule } from '@svc/auth';
import { PaymentHistoryConfig } from './config.js';
import { PaymentPages } from './payments/payment-pages.js';
import { PaymentRepository } from './payments/payment.repository.js';
import { PaymentsConsumer } from './payments/payments.consumer.js';
import { PaymentsController } from './payments/payments.controller.js';
import { GenerationRepository } from './rebuild/generation.repository.js';
import { RebuildHistory } from './rebuild/rebuild-history.js';
import { RebuildController } from './rebuild/rebuild.controller.js';

@Module({
  imports: [PartnerAuthModule],
  controllers: [PaymentsController, PaymentsConsumer, RebuildController, deadLettersOf('payment-history')],
  providers: [
    GenerationRepository,
    PaymentPages,
    PaymentRepository,
    RebuildHistory,
    adminKeyFrom(PaymentHistoryConfig),
  ],
})
export class PaymentHistoryModule {}

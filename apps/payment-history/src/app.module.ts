import { Module } from '@nestjs/common';
import { adminKeyFrom, deadLettersOf, PartnerAuthModule } from '@svc/auth';
import { PaymentHistoryConfig } from './config.js';
import { PaymentPages } from './payments/payment-pages.js';
import { PaymentRepository } from './payments/payment.repository.js';
import { PaymentsConsumer } from './payments/payments.consumer.js';
import { PaymentsController } from './payments/payments.controller.js';

@Module({
  imports: [PartnerAuthModule],
  controllers: [PaymentsController, PaymentsConsumer, deadLettersOf('payment-history')],
  providers: [PaymentPages, PaymentRepository, adminKeyFrom(PaymentHistoryConfig)],
})
export class PaymentHistoryModule {}

import { Module } from '@nestjs/common';
import { OperatorKeysModule, PartnerAuthModule, provideAdminKey, provideAuditTrail } from '@svc/auth';
import { PaymentHistoryAdministeredV1 } from '@svc/contracts';
import { rebuildableReadModel } from '@svc/messaging';
import { administrationControllers, createRebuildController } from '@svc/service/administration';
import { BooksConsumer } from './books/books.consumer.js';
import { PaymentHistoryConfig } from './config.js';
import { PaymentRepository } from './payments/payment.repository.js';
import { PaymentPagesQuery } from './payments/payment-pages.query.js';
import { PaymentsConsumer } from './payments/payments.consumer.js';
import { PaymentsController } from './payments/payments.controller.js';
import { READ_MODEL } from './payments/read-model.js';

@Module({
  imports: [PartnerAuthModule, OperatorKeysModule],
  controllers: [
    PaymentsController,
    PaymentsConsumer,
    BooksConsumer,
    createRebuildController('history'),
    ...administrationControllers('payment-history'),
  ],
  providers: [
    PaymentPagesQuery,
    PaymentRepository,
    ...rebuildableReadModel(READ_MODEL),
    provideAdminKey(PaymentHistoryConfig),
    provideAuditTrail(PaymentHistoryAdministeredV1),
  ],
})
export class PaymentHistoryModule {}

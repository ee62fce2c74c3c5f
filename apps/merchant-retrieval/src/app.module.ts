import { Module } from '@nestjs/common';
import {
  CredentialsConsumer,
  OperatorKeysModule,
  provideAdminKey,
  provideAuditTrail,
  provideFailedCalls,
} from '@svc/auth';
import { MerchantRetrievalAdministeredV1, RecordFailedCallsV1 } from '@svc/contracts';
import { rebuildableReadModel } from '@svc/messaging';
import { administrationControllers, createRebuildController } from '@svc/service/administration';
import { BooksConsumer } from './books/books.consumer.js';
import { MerchantRetrievalConfig } from './config.js';
import { KeyLimit } from './limits/key-limit.js';
import { PaymentRepository } from './payments/payment.repository.js';
import { PaymentPartitionRepository } from './payments/payment-partition.repository.js';
import { PaymentPartitions } from './payments/payment-partitions.js';
import { PaymentSearchController } from './payments/payment-search.controller.js';
import { PaymentsConsumer } from './payments/payments.consumer.js';
import { PaymentsController } from './payments/payments.controller.js';
import { READ_MODEL } from './payments/read-model.js';
import { NotificationRepository } from './stream/notification.repository.js';
import { NotificationRetention } from './stream/notification-retention.js';
import { PaymentStreams } from './stream/payment-streams.js';
import { RefundsConsumer } from './stream/refunds.consumer.js';
import { StreamController } from './stream/stream.controller.js';

@Module({
  imports: [OperatorKeysModule],
  controllers: [
    PaymentsController,
    PaymentSearchController,
    StreamController,
    PaymentsConsumer,
    RefundsConsumer,
    BooksConsumer,
    CredentialsConsumer,
    createRebuildController('retrieval'),
    ...administrationControllers('merchant-retrieval'),
  ],
  providers: [
    KeyLimit,
    PaymentPartitionRepository,
    PaymentPartitions,
    PaymentRepository,
    NotificationRepository,
    NotificationRetention,
    PaymentStreams,
    ...rebuildableReadModel(READ_MODEL),
    provideAdminKey(MerchantRetrievalConfig),
    provideAuditTrail(MerchantRetrievalAdministeredV1),
    provideFailedCalls(RecordFailedCallsV1),
  ],
})
export class MerchantRetrievalModule {}

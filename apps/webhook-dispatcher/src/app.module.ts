import { Module } from '@nestjs/common';
import { OperatorKeysModule, provideAdminKey, provideAuditTrail } from '@svc/auth';
import { WebhookDispatcherAdministeredV1 } from '@svc/contracts';
import { administrationControllers } from '@svc/service/administration';
import { BooksConsumer } from './books/books.consumer.js';
import { WebhookDispatcherConfig } from './config.js';
import { CircuitRepository } from './delivery/circuit.repository.js';
import { CountFailure } from './delivery/count-failure.js';
import { DeliveryAttemptRepository } from './delivery/delivery-attempt.repository.js';
import { DeliveryAttemptRecorder } from './delivery/delivery-attempt-recorder.js';
import { DeliveryLeaseRepository } from './delivery/delivery-lease.repository.js';
import { DeliveryMetrics } from './delivery/delivery-metrics.js';
import { DeliveryWorker } from './delivery/delivery-worker.js';
import { DueSignal } from './delivery/due-signal.js';
import { Randomness, SendNotification } from './delivery/send-notification.js';
import { DeliveriesConsumer } from './delivery-log/deliveries.consumer.js';
import { ReadDeliveryContent } from './delivery-log/read-delivery-content.js';
import { WebhookClient } from './endpoint/webhook-client.js';
import { NotificationsController } from './notifications/notifications.controller.js';
import { NotificationRepository } from './recording/notification.repository.js';
import { NotificationsConsumer } from './recording/notifications.consumer.js';
import { RecordNotifications } from './recording/record-notifications.js';
import { ReplayRepository } from './replays/replay.repository.js';
import { ReplayMany } from './replays/replay-many.js';
import { ReplayNotification } from './replays/replay-notification.js';
import { ReplaysController } from './replays/replays.controller.js';
import { SealingKey } from './sealing-key/sealing-key.js';
import { SealingKeyRepository } from './sealing-key/sealing-key.repository.js';
import { SigningSecretsConsumer } from './signing-secrets/signing-secrets.consumer.js';
import { SigningSecrets } from './signing-secrets/signing-secrets.js';
import { SiteWebhooksConsumer } from './site-webhooks/site-webhooks.consumer.js';
import { SendTestWebhooks } from './test-webhooks/send-test-webhook.js';
import { TestWebhooksConsumer } from './test-webhooks/test-webhooks.consumer.js';

@Module({
  imports: [OperatorKeysModule],
  controllers: [
    SigningSecretsConsumer,
    SiteWebhooksConsumer,
    NotificationsConsumer,
    NotificationsController,
    ReplaysController,
    BooksConsumer,
    DeliveriesConsumer,
    TestWebhooksConsumer,
    ...administrationControllers('webhook-dispatcher'),
  ],
  providers: [
    SealingKey,
    SigningSecrets,
    DueSignal,
    DeliveryAttemptRepository,
    DeliveryLeaseRepository,
    CircuitRepository,
    CountFailure,
    NotificationRepository,
    RecordNotifications,
    ReplayRepository,
    ReplayNotification,
    ReplayMany,
    SealingKeyRepository,
    DeliveryMetrics,
    DeliveryWorker,
    SendNotification,
    DeliveryAttemptRecorder,
    ReadDeliveryContent,
    SendTestWebhooks,
    { provide: Randomness, useValue: { next: () => Math.random() } },
    {
      provide: WebhookClient,
      inject: [WebhookDispatcherConfig],
      useFactory: (config: WebhookDispatcherConfig) =>
        new WebhookClient({
          policy: { allowLoopback: config.SVC_ENVIRONMENT === 'development' },
          connectTimeoutMs: config.SVC_DELIVERY_CONNECT_TIMEOUT_MS,
          timeoutMs: config.SVC_DELIVERY_TIMEOUT_MS,
          connectionsPerOrigin: config.SVC_DELIVERY_CONCURRENCY,
        }),
    },
    provideAdminKey(WebhookDispatcherConfig),
    provideAuditTrail(WebhookDispatcherAdministeredV1),
  ],
})
export class WebhookDispatcherModule {}

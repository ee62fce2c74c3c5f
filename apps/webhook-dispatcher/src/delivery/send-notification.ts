import { Inject, Injectable } from '@nestjs/common';
import { Clock, createCounter, createHistogram, digestSession, type TraceableReferences } from '@svc/kernel';
import { addReferencesToSpan, continueTrace } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { classOfResponse } from '../endpoint/response-class.js';
import { WebhookClient, type WebhookResponse } from '../endpoint/webhook-client.js';
import { isFailure } from '../retries/circuit.js';
import { classifyResponse, type DeliveryAttemptResult } from '../retries/classify-response.js';
import { keyRetryDelayMs } from '../retries/retry-schedule.js';
import { SigningSecrets } from '../signing-secrets/signing-secrets.js';
import { CountFailure } from './count-failure.js';
import { DeliveryAttemptRecorder } from './delivery-attempt-recorder.js';
import { DeliveryLeaseRepository, type LeasedNotification } from './delivery-lease.repository.js';
import { signNotification } from './sign-notification.js';

/** Returns random numbers from 0 to below 1. It is injected, so that tests can set the jitter. */
export abstract class Randomness {
  abstract next(): number;
}

interface SendOptions {
  /** Maximum duration of the request. */
  readonly timeoutMs: number;
  /** Aborts the request. The lease of an aborted request is released, and the attempt is not counted. */
  readonly abortSignal: AbortSignal;
  /** Is called once, after the request has ended with or without a response. */
  readonly onRequestEnded: () => void;
}

/**
 * Makes one attempt to deliver a leased notification: signs it, posts it, and records the result. If the process
 * crashes after the request and before the result is recorded, the lease ends, and another worker sends the
 * notification again with the same webhook-id (E8).
 */
@Injectable()
export class SendNotification {
  private readonly attemptCounter = createCounter('svc.webhook.attempts');
  private readonly firstDelay = createHistogram('svc.webhook.first.delay');
  private readonly deliveryDelay = createHistogram('svc.webhook.delivery.delay');

  constructor(
    @Inject(DeliveryLeaseRepository) private readonly leases: DeliveryLeaseRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(Randomness) private readonly randomness: Randomness,
    @Inject(SigningSecrets) private readonly secrets: SigningSecrets,
    @Inject(WebhookClient) private readonly client: WebhookClient,
    @Inject(DeliveryAttemptRecorder) private readonly attempts: DeliveryAttemptRecorder,
    @Inject(CountFailure) private readonly countFailure: CountFailure,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async send(notification: LeasedNotification, options: SendOptions): Promise<void> {
    let isInFlight = true;
    const onRequestEnded = (): void => {
      if (isInFlight) options.onRequestEnded();
      isInFlight = false;
    };
    try {
      await continueTrace(notification.traceparent, 'notify merchant', () =>
        this.sendInTrace(notification, { ...options, onRequestEnded }),
      );
    } finally {
      onRequestEnded();
    }
  }

  private async sendInTrace(
    notification: LeasedNotification,
    { timeoutMs, abortSignal, onRequestEnded }: SendOptions,
  ): Promise<void> {
    const keys = await this.secrets.findKeys(notification);
    if (!keys) return this.waitForKeys(notification);

    const startedAt = this.clock.now();
    // The process may have been suspended since it leased the notification. If the lease could end during the request,
    // the notification is not sent, because another worker may then send the same notification, or the notification of
    // a later successful payment of the session.
    if (startedAt.getTime() + timeoutMs > notification.leasedUntil.getTime())
      return this.leases.release(notification, startedAt);

    const references = referencesOf(notification);
    addReferencesToSpan(references);
    const { body, headers } = signNotification(notification.webhookId, notification, keys, startedAt);
    let response;
    try {
      response = await this.client.post({ url: notification.url, headers, body }, abortSignal);
    } catch (error) {
      if (!abortSignal.aborted) throw error;
      return this.leases.release(notification, this.clock.now());
    }

    onRequestEnded();

    const now = this.clock.now();
    const result = classifyResponse(response, {
      attemptCount: notification.schedulePosition + 1,
      now,
      random: this.randomness.next(),
    });
    const recorded = await this.attempts.record({ notification, response, result, startedAt, endedAt: now });
    if (recorded) this.measure(notification, response, result, now);
    const logFields = {
      ...references,
      notificationId: notification.id,
      outcome: result.outcome,
      state: result.state,
      statusCode: response.statusCode,
      errorClass: response.errorClass,
      ms: response.durationMs,
    };
    if (!recorded) this.log.warn(logFields, 'notification: the lease ended before the result was recorded');
    else if (result.state === 'exhausted' || result.state === 'gone') this.log.warn(logFields, 'notification given up');
    else this.log.info(logFields, 'notification attempted');
    // The hint of a redirect is not logged, because it contains a URL.
    if (result.outcome === 'acknowledged' && response.hint !== undefined)
      this.log.warn({ ...logFields, hint: response.hint }, 'notification delivered to an HTML page');
    if (isFailure(response)) await this.recordFailure(notification);
  }

  /** The delay of a replay is counted from the replay. */
  private measure(
    { recipient, schedulePosition, createdAt, replayedAt }: LeasedNotification,
    response: WebhookResponse,
    { outcome, state }: DeliveryAttemptResult,
    now: Date,
  ): void {
    const isGivenUp = state === 'exhausted' || state === 'gone';
    this.attemptCounter.add(1, {
      recipient,
      outcome: outcome === 'acknowledged' ? outcome : isGivenUp ? state : 'retry',
      response: classOfResponse(response),
    });
    const delay = Math.max(0, now.getTime() - (replayedAt ?? createdAt).getTime()) / 1_000;
    if (schedulePosition === 0) this.firstDelay.record(delay, { recipient });
    if (outcome === 'acknowledged') this.deliveryDelay.record(delay, { recipient });
  }

  private async recordFailure({ merchantId, endpoint, leaseId }: LeasedNotification): Promise<void> {
    const now = this.clock.now();
    const { wasOpen, openUntil, exhausted } = await this.countFailure.execute({ merchantId, endpoint, leaseId }, now);
    const logFields = { merchantId, endpoint, openUntil };
    if (openUntil && !wasOpen) this.log.warn(logFields, 'endpoint is failing: circuit breaker opened');
    if (exhausted > 0) this.log.warn({ ...logFields, exhausted }, 'notifications given up behind an open circuit');
  }

  private async waitForKeys(notification: LeasedNotification): Promise<void> {
    const now = this.clock.now();
    const missingKeys = await this.secrets.findMissingKeys(notification);
    // No key is missing any more, because the keys arrived after the first read.
    if (missingKeys.length === 0) return this.leases.release(notification, now);

    const waitMs = keyRetryDelayMs(now.getTime() - notification.createdAt.getTime());
    const nextAttemptAt = waitMs === undefined ? undefined : new Date(now.getTime() + waitMs);
    await this.leases.release(notification, nextAttemptAt, { at: now, missingKeys });
    const { id: notificationId, merchantId, siteId, mode, apiVersion } = notification;
    this.log.error(
      { notificationId, merchantId, siteId, mode, apiVersion, missingKeys, waitMs },
      'notification cannot be signed: create the missing keys',
    );
  }
}

/** The references by which an operator finds the payment, as in the log lines of payment-processor. */
function referencesOf({ paymentReference, sessionId, fields }: LeasedNotification): TraceableReferences {
  const session = sessionId === null ? {} : { session: digestSession(sessionId) };
  return { paymentReference, ...session, ...('merchantOrderId' in fields ? { order: fields.merchantOrderId } : {}) };
}

import { createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import {
  type EventEnvelope,
  type HostedApiVersion,
  type HostedPaymentSnapshot,
  type Mode,
  PaymentFailedV1,
  PaymentReversedV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  SealingKeyPublishedV1,
  SigningSecretChangedV1,
  type SiteChanged,
  SiteChangedV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { anEvent, startTestService, type TestService } from '@svc/testing';
import { CompactEncrypt } from 'jose';
import { DeliveryWorker } from '../src/delivery/delivery-worker.js';
import { webhookDispatcherService } from '../src/index.js';
import { newHostedPayment, TEST_SITE } from './payment.js';

export const SITE_API_KEY = 'svc_test_site_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
export const MERCHANT_API_KEY = 'svc_test_merchant_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const ADMIN_KEY = 'an administration key for tests 1';

export const DISPATCHER_ENV = {
  SVC_SEALING_KEY: randomBytes(32).toString('base64url'),
  SVC_ADMIN_KEY: ADMIN_KEY,
  // The loop of the worker does not run, because tests call runStep().
  SVC_DELIVERY: 'off',
};

export interface NotificationRow {
  id: string;
  state: string;
  payment_status: string;
  attempt_count: number;
  schedule_position: number;
  next_attempt_at: Date | null;
  lease_id: string | null;
  leased_until: Date | null;
  delivered_at: Date | null;
}

interface DeliveryAttemptRow {
  attempt_number: number;
  outcome: string;
  status_code: number | null;
  error_class: string | null;
  response: string | null;
  duration_ms: number;
}

/** The real service. Tests deliver the events of identity and payment-processor, and run the worker step by step. */
export class DispatcherUnderTest {
  private constructor(readonly test: TestService) {}

  static async start(env: Record<string, string> = {}): Promise<DispatcherUnderTest> {
    return new DispatcherUnderTest(
      await startTestService(webhookDispatcherService, { env: { ...DISPATCHER_ENV, ...env } }),
    );
  }

  get clock(): TestService['clock'] {
    return this.test.clock;
  }

  get worker(): DeliveryWorker {
    return this.test.service.app.get(DeliveryWorker);
  }

  runStep(): Promise<number> {
    return this.worker.runStep();
  }

  /** Delivers the event of a signing secret, encrypted for the key of this service. */
  async deliverSecret(
    secretId: string,
    plaintext: string,
    options: {
      purpose: 'api-key' | 'webhook-secret';
      siteId?: number;
      mode?: Mode;
      primary?: boolean;
      revoked?: boolean;
      version?: number;
      merchantId?: number;
    },
  ): Promise<void> {
    const [published] = await this.test.published(SealingKeyPublishedV1);
    const { publicJwk } = published!.payload;
    const sealed = await new CompactEncrypt(new TextEncoder().encode(plaintext))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid })
      .encrypt(createPublicKey({ key: { ...publicJwk }, format: 'jwk' }));
    const { version = 1, purpose, siteId, mode = TEST_SITE.mode, primary = true, revoked = false } = options;
    const { merchantId = TEST_SITE.merchantId } = options;
    await this.test.deliver(
      anEvent(SigningSecretChangedV1, secretId, version, {
        secretId,
        purpose,
        mode,
        merchantId,
        ...(siteId === undefined ? {} : { siteId }),
        sealed,
        primary,
        revoked,
      }),
    );
  }

  /**
   * Delivers an API key of the site, an API key of the merchant, and a webhook secret. Their values are the same for
   * all merchants.
   */
  async deliverDefaultSecrets(merchantId = TEST_SITE.merchantId): Promise<void> {
    const { siteId } = TEST_SITE;
    await this.deliverSecret(`site-key ${merchantId}`, SITE_API_KEY, { purpose: 'api-key', siteId, merchantId });
    await this.deliverSecret(`merchant-key ${merchantId}`, MERCHANT_API_KEY, { purpose: 'api-key', merchantId });
    await this.deliverSecret(`webhook-secret ${merchantId}`, WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      siteId,
      merchantId,
    });
  }

  /** Creates a final payment of a hosted session whose notificationUrl is `url`. */
  newPayment(
    url: string,
    options: { state?: 'success' | 'failed'; sessionId?: string; apiVersion?: HostedApiVersion; mode?: Mode } = {},
  ): HostedPaymentSnapshot {
    const { state = 'success', sessionId = randomUUID(), apiVersion = 'v3.1', mode = TEST_SITE.mode } = options;
    return newHostedPayment(newPaymentReference(this.clock.now()), url, { state, sessionId, apiVersion, mode });
  }

  /** Delivers the event of a site, by default without a webhook. */
  async deliverSite(overrides: Partial<SiteChanged>, version = 1): Promise<void> {
    const site: SiteChanged = {
      ...{
        merchantId: TEST_SITE.merchantId,
        merchantName: 'Merchant',
        siteId: TEST_SITE.siteId,
        siteReference: 'SHOP-1',
      },
      ...{
        name: 'Shop',
        requireApiKey: true,
        allowedHosts: [],
        keylessMode: 'test',
        webhookEnabled: false,
        challengePayers: false,
      },
      ...overrides,
    };
    await this.test.deliver(anEvent(SiteChangedV1, String(site.siteId), version, site));
  }

  /** Creates the event of a final payment. */
  finalPaymentEvent(payment: PaymentSnapshot): EventEnvelope<PaymentSnapshot> {
    const type = payment.state === 'success' ? PaymentSucceededV1 : PaymentFailedV1;
    return anEvent(type, payment.paymentReference, 2, payment);
  }

  /** Delivers the events of final payments. The service records their notifications. */
  async deliverPayments(...payments: PaymentSnapshot[]): Promise<void> {
    await this.test.deliver(...payments.map((payment) => this.finalPaymentEvent(payment)));
  }

  /** Delivers the event of a reversed charge. */
  async deliverReversal(payment: PaymentSnapshot): Promise<void> {
    await this.test.deliver(anEvent(PaymentReversedV1, payment.reference, 1, payment));
  }

  async getNotificationRow({ paymentReference }: HostedPaymentSnapshot): Promise<NotificationRow> {
    const [row] = await this.test.dataSource.query<NotificationRow[]>(
      `SELECT * FROM notifications WHERE payment_reference = $1`,
      [paymentReference],
    );
    if (!row) throw new Error(`No notification of ${paymentReference}.`);
    return row;
  }

  async getAttemptRows({ paymentReference }: HostedPaymentSnapshot): Promise<DeliveryAttemptRow[]> {
    return this.test.dataSource.query(
      `SELECT a.* FROM delivery_attempts a JOIN notifications n ON n.id = a.notification_id WHERE n.payment_reference = $1 ORDER BY a.attempt_number`,
      [paymentReference],
    );
  }

  /** Requests a replay of many notifications. */
  requestReplays(body: object): Promise<{ status: number; body: Record<string, unknown> }> {
    return this.requestAdmin('POST', '/replays', ADMIN_KEY, body);
  }

  /** @param path the part of the path after `/admin/v1/notifications` */
  async requestAdmin(
    method: 'GET' | 'POST',
    path: string,
    key: string | null = ADMIN_KEY,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await this.test.service.app.inject({
      method,
      url: `/admin/v1/notifications${path}`,
      headers: key === null ? {} : { 'x-admin-key': key },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: response.statusCode, body: response.body === '' ? {} : response.json<Record<string, unknown>>() };
  }
}

import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import {
  ApiKeyChangedV1,
  type InvoiceResponse,
  type Mode,
  PayableClosedV1,
  type PayableSnapshot,
  type PayableSource,
  PaymentProcessingV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  SiteChangedV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { EmbeddedBroker } from '@svc/messaging';
import { anEvent, inProgress, startTestService, type TestService } from '@svc/testing';
import { codeDecoderService } from '../src/index.js';
import { type FakePaymentProcessor, startFakePaymentProcessor } from './fake-payment-processor.js';
import { buildInvoiceRequest } from './invoice-request.js';

export { buildInvoiceRequest };

export const CODES_URL = 'https://pay.svc.example';
export const ADMIN_KEY = 'an administration key for tests 1';

/** A merchant with one site. The merchant has an API key, and the site has its own API key. */
export interface Merchant {
  readonly merchantId: number;
  readonly siteId: number;
  readonly siteKey: string;
  readonly merchantKey: string;
  /** `/business/api/v1/merchants/…/sites/…` */
  readonly path: string;
  readonly headers: Record<string, string>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every type
  readonly body: any;
}

/** A running code-decoder for a test. */
export interface Decoder extends TestService {
  readonly payables: FakePaymentProcessor;
  /** Delivers the identity service's events of a merchant, a site and their keys. The ids are new unless given. */
  createMerchant(changes?: { mode?: Mode; name?: string; merchantId?: number; siteId?: number }): Promise<Merchant>;
  /** Sends a request to code-decoder. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    options?: { headers?: Record<string, string>; payload?: unknown },
  ): Promise<HttpResponse>;
  /** Creates an invoice at the merchant's site. */
  createInvoice(merchant: Merchant, changes?: Record<string, unknown>): Promise<InvoiceResponse>;
  /** Delivers the event that payment-processor publishes when a payable gets this state. */
  publishPayable(payable: PayableSnapshot): Promise<void>;
}

/** Starts code-decoder with a fake payment-processor. */
export async function startDecoder(env: Record<string, string> = {}, broker = new EmbeddedBroker()): Promise<Decoder> {
  const payables = await startFakePaymentProcessor(broker);
  const service = await startTestService(codeDecoderService, {
    broker,
    env: { SVC_CODES_URL: CODES_URL, SVC_ADMIN_KEY: ADMIN_KEY, ...env },
  });
  let nextId = 1001;

  const call: Decoder['call'] = async (method, url, { headers = {}, payload } = {}) => {
    const response = await service.service.app.inject({
      method,
      url,
      headers,
      ...(payload === undefined ? {} : { payload: payload as object }),
    });
    const isJson = String(response.headers['content-type']).includes('json');
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: isJson ? JSON.parse(response.body) : undefined,
    };
  };
  return {
    ...service,
    payables,
    call,
    createMerchant: async ({ mode = 'test', name = 'Karoo Books', merchantId = nextId++, siteId = nextId++ } = {}) => {
      const [siteKey, merchantKey] = [newApiKey('site', mode), newApiKey('merchant', mode)];
      await service.deliver(
        anEvent(SiteChangedV1, String(siteId), 1, {
          merchantId,
          siteId,
          merchantName: name,
          siteReference: 'KAROO',
          name: 'Shop',
          requireApiKey: true,
          allowedHosts: [],
          keylessMode: mode,
          webhookEnabled: false,
          challengePayers: false,
        }),
        ...[
          { kind: 'site' as const, apiKey: siteKey, siteId },
          { kind: 'merchant' as const, apiKey: merchantKey },
        ].map(({ apiKey, ...key }) => {
          const keyId = randomUUID();
          return anEvent(ApiKeyChangedV1, keyId, 1, {
            ...key,
            keyId,
            merchantId,
            mode,
            hash: hashApiKey(apiKey),
            revoked: false,
          });
        }),
      );
      const path = `/business/api/v1/merchants/${merchantId}/sites/${siteId}`;
      return { merchantId, siteId, siteKey, merchantKey, path, headers: { 'x-api-key': siteKey } };
    },
    createInvoice: async (merchant, changes = {}) => {
      const { status, body, text } = await call('POST', `${merchant.path}/invoices`, {
        headers: merchant.headers,
        payload: buildInvoiceRequest(changes),
      });
      if (status !== 201) throw new Error(`The invoice was not created: ${status} ${text}`);
      return body as InvoiceResponse;
    },
    publishPayable: async (payable) => {
      const descriptor = payables.opened.find(({ payableId }) => payableId === payable.payableId);
      const { payableId, version, state } = payable;
      if (state === 'closed') return service.deliver(anEvent(PayableClosedV1, payableId, version, payable));
      const payment = createPayment(descriptor!.source, payable);
      await service.deliver(
        state === 'reserved'
          ? anEvent(PaymentProcessingV1, randomUUID(), 1, inProgress(payment))
          : anEvent(PaymentSucceededV1, randomUUID(), 1, payment),
      );
    },
  };
}

function createPayment(source: PayableSource, payable: PayableSnapshot): PaymentSnapshot {
  const isPaid = payable.state === 'paid';
  return {
    reference: randomUUID(),
    paymentReference: newPaymentReference(new Date('2026-03-01T10:00:00.000Z')),
    mode: 'test',
    merchantId: 1,
    siteId: 2,
    state: isPaid ? 'success' : 'processing',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12345,
    amount: 12345,
    tipAmount: 0,
    processedAmount: isPaid ? 12345 : 0,
    paymentUTCDate: '2026-03-01T10:00:00.000Z',
    modifiedUTCDate: '2026-03-01T10:00:01.000Z',
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: [],
    source,
    payable,
    merchantName: 'Karoo Books',
    siteReference: 'KAROO',
  };
}

import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import {
  ApiKeyChangedV1,
  type HostedPaymentSnapshot,
  type InvoiceResponse,
  type Mode,
  PayableClosedV1,
  type PayableSnapshot,
  type PayableSource,
  PaymentProcessingV1,
  PaymentSucceededV1,
  SiteChangedV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { EmbeddedBroker } from '@svc/messaging';
import { anEvent, startTestService, type TestService } from '@svc/testing';
import { codeDecoderService } from '../src/index.js';
import { type FakePaymentProcessor, startFakePaymentProcessor } from './fake-payment-processor.js';
import { anInvoiceRequest } from './invoice-request.js';

export { anInvoiceRequest };

export const CODES_URL = 'https://pay.svc.example';
export const ADMIN_KEY = 'an administration key for tests 1';

export interface Merchant {
  readonly merchantId: number;
  readonly siteId: number;
  readonly siteKey: string;
  readonly merchantKey: string;
  /** `/business/api/v1/merchants/…/sites/…` */
  readonly path: string;
  readonly headers: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
}

export interface Decoder extends TestService {
  readonly payables: FakePaymentProcessor;
  /** Delivers the events of identity for a site of a merchant with its keys; new ids by default. */
  aMerchant(over?: { mode?: Mode; name?: string; merchantId?: number; siteId?: number }): Promise<Merchant>;
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    options?: { headers?: Record<string, string>; payload?: unknown },
  ): Promise<Answer>;
  createInvoice(merchant: Merchant, over?: Record<string, unknown>): Promise<InvoiceResponse>;
  /** Delivers the event of payment-processor for this state of a payable. */
  publishPayable(payable: PayableSnapshot): Promise<void>;
}

export async function startDecoder(env: Record<string, string> = {}, broker = new EmbeddedBroker()): Promise<Decoder> {
  const payables = await startFakePaymentProcessor(broker);
  const test = await startTestService(codeDecoderService, {
    broker,
    env: { SVC_CODES_URL: CODES_URL, SVC_ADMIN_KEY: ADMIN_KEY, ...env },
  });
  let nextId = 1001;

  const call: Decoder['call'] = async (method, url, { headers = {}, payload } = {}) => {
    const answer = await test.service.app.inject({
      method,
      url,
      headers,
      ...(payload === undefined ? {} : { payload: payload as object }),
    });
    const json = String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      body: json ? JSON.parse(answer.body) : undefined,
    };
  };
  return {
    ...test,
    payables,
    call,
    aMerchant: async ({ mode = 'test', name = 'Karoo Books', merchantId = nextId++, siteId = nextId++ } = {}) => {
      const [siteKey, merchantKey] = [newApiKey('site', mode), newApiKey('merchant', mode)];
      await test.deliver(
        anEvent(SiteChangedV1, String(siteId), 1, {
          merchantId,
          siteId,
          merchantName: name,
          siteReference: 'KAROO',
          name: 'Shop',
          requireApiKey: true,
          allowedHosts: [],
          keylessMode: mode,
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
    createInvoice: async (merchant, over = {}) => {
      const { status, body, text } = await call('POST', `${merchant.path}/invoices`, {
        headers: merchant.headers,
        payload: anInvoiceRequest(over),
      });
      if (status !== 201) throw new Error(`No invoice: ${status} ${text}`);
      return body as InvoiceResponse;
    },
    publishPayable: async (payable) => {
      const descriptor = payables.opened.find(({ payableId }) => payableId === payable.payableId);
      const { payableId, version, state } = payable;
      if (state === 'closed') return test.deliver(anEvent(PayableClosedV1, payableId, version, payable));
      const type = state === 'reserved' ? PaymentProcessingV1 : PaymentSucceededV1;
      await test.deliver(anEvent(type, randomUUID(), 1, aPayment(descriptor!.source, payable)));
    },
  };
}

function aPayment(source: PayableSource, payable: PayableSnapshot): HostedPaymentSnapshot<PayableSource> {
  const success = payable.state === 'paid';
  return {
    reference: randomUUID(),
    paymentReference: newPaymentReference(new Date('2026-03-01T10:00:00.000Z')),
    mode: 'test',
    merchantId: 1,
    siteId: 2,
    state: success ? 'success' : 'processing',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12345,
    amount: 12345,
    tipAmount: 0,
    processedAmount: success ? 12345 : 0,
    paymentUTCDate: '2026-03-01T10:00:00.000Z',
    modifiedUTCDate: '2026-03-01T10:00:01.000Z',
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: [],
    source,
    payable,
  };
}

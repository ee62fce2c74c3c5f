import { randomUUID } from 'node:crypto';
import {
  CardKeyPublishedV1,
  type ChargeCard,
  ChargeCardV1,
  CheckPaymentsV1,
  type CommandType,
  type HostedPayableDescriptor,
  type HostedSessionSource,
  type PayableDescriptor,
  type PayableSource,
  paymentError,
  type PaymentSnapshot,
  type PublicKeyJwk,
  SessionCreatedV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import type { ReplyEnvelope } from '@svc/messaging';
import { anEvent, startTestService, type TestService } from '@svc/testing';
import { buildPage } from '../browser/build.ts';
import { hostedGatewayService } from '../src/index.js';
import { createMerchant, type Merchant, type SiteOptions } from './merchants.js';

export type { Merchant } from './merchants.js';

export const CARD_KEY: PublicKeyJwk = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'k', use: 'enc', alg: 'ECDH-ES' };

/** Base URL of the codes. Differs from the gateway's URL, so that a test fails if the gateway mixes them up. */
export const CODES_URL = 'https://codes.example';

export const ADMIN_KEY = 'an administration key for tests 1';

/** 32 bytes. */
export const CHALLENGE_KEY = Buffer.alloc(32, 'challenge').toString('base64url');

/** The settings of the gateway of a test, which a replica of it needs too. */
export const GATEWAY_ENVIRONMENT = {
  SVC_GATEWAY_URL: 'https://pay.example',
  SVC_CODES_URL: CODES_URL,
  SVC_ADMIN_KEY: ADMIN_KEY,
  SVC_CHALLENGE_KEYS: CHALLENGE_KEY,
  SVC_ACQUIRER_LIVE: 'simulated',
};

export interface Gateway extends TestService {
  /**
   * Delivers the events that identity publishes for a site and its keys. By default, the merchant and the site are new.
   */
  createMerchant(site?: SiteOptions): Promise<Merchant>;
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    options?: { headers?: Record<string, string>; payload?: unknown },
  ): Promise<HttpResponse>;
  /** Creates a session through the API and returns its id. */
  createSession(merchant: Merchant, overrides?: Record<string, unknown>, version?: string): Promise<string>;
  /** Finds the payable in the session.created event of this session. */
  findPublishedPayable(sessionId: string): Promise<HostedPayableDescriptor>;
  /** Simulates payment-processor: from now on, ChargeCard commands get the replies of `createReply`. */
  respondToCharges(createReply: (command: ChargeCard) => ReplyEnvelope | Promise<ReplyEnvelope>): Promise<void>;
  /** Simulates the service that handles `command`: from now on, these commands get the replies of `createReply`. */
  respondTo<Request>(
    command: CommandType<Request, unknown>,
    createReply: (request: Request) => ReplyEnvelope | Promise<ReplyEnvelope>,
  ): Promise<void>;
  /** Simulates payment-processor: from now on, CheckPayments commands get the replies of `createReply`. */
  respondToChecks(createReply: (command: { payableId: string }) => ReplyEnvelope): Promise<void>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  readonly body: any;
}

export async function startGateway(env: Record<string, string> = {}): Promise<Gateway> {
  await buildPage();
  const test = await startTestService(hostedGatewayService, {
    env: { ...GATEWAY_ENVIRONMENT, ...env },
  });
  await test.deliver(anEvent(CardKeyPublishedV1, 'card-key', 1, { publicJwk: CARD_KEY }));
  const responders = new Map<string, { close(): Promise<void> }>();
  const respond = async (
    command: string,
    createReply: (payload: unknown) => ReplyEnvelope | Promise<ReplyEnvelope>,
  ): Promise<void> => {
    await responders.get(command)?.close();
    const responder = (payload: unknown): Promise<ReplyEnvelope> => Promise.resolve(createReply(payload));
    responders.set(command, await test.broker.respond(command, responder));
  };

  const call: Gateway['call'] = async (method, url, { headers = {}, payload } = {}) => {
    const response = await test.service.app.inject({
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
    ...test,
    call,
    createMerchant: (site = {}) => createMerchant(test, site),
    createSession: async (merchant, overrides = {}, version = 'v3.1') => {
      const { status, body, text } = await call('POST', `/api/${version}/sessions`, {
        headers: merchant.headers,
        payload: buildSessionRequest(overrides),
      });
      if (status !== 201) throw new Error(`The session was not created: ${status} ${text}`);
      return body.sessionId as string;
    },
    findPublishedPayable: async (sessionId) => {
      const event = (await test.published(SessionCreatedV1)).find(({ aggregateId }) => aggregateId === sessionId);
      if (!event) throw new Error('session.created was not published.');
      return event.payload.payable;
    },
    respondTo: ({ name }, createReply) => respond(name, createReply as (request: unknown) => ReplyEnvelope),
    respondToCharges: (createReply) => respond(ChargeCardV1.name, (command) => createReply(command as ChargeCard)),
    respondToChecks: (createReply) =>
      respond(CheckPaymentsV1.name, (command) => createReply(command as { payableId: string })),
  };
}

export function buildSessionRequest(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    requestId: randomUUID(),
    merchantOrderId: 'order-17',
    amount: 12345,
    currencyISOCode: 'ZAR',
    notificationUrl: 'https://shop.example/hook',
    returnUrl: 'https://shop.example/return?lang=en',
    cancelUrl: 'https://shop.example/cart',
    origin: 'shop.example',
    siteName: 'Karoo Books',
    customFields: [{ key: 'Book', value: 'The Story of an African Farm' }],
    ...overrides,
  };
}

/**
 * A payment of a session or of an invoice, as payment-processor reports it. `version` and `paymentCount` belong to the
 * payable.
 */
export function buildPayment<Source extends PayableSource = HostedSessionSource>(
  payable: PayableDescriptor<Source>,
  overrides: Partial<PaymentSnapshot<Source>> & { version: number; paymentCount?: number },
): PaymentSnapshot<Source> {
  const { version, paymentCount = 1, ...rest } = overrides;
  const state = rest.state ?? 'success';
  return {
    reference: randomUUID(),
    paymentReference: newPaymentReference(new Date('2026-03-01T10:00:00.000Z')),
    mode: payable.mode,
    merchantId: payable.merchantId,
    siteId: payable.siteId,
    state,
    currencyISOCode: 'ZAR',
    invoicedAmount: payable.amount,
    amount: payable.amount,
    tipAmount: 0,
    processedAmount: state === 'success' ? payable.amount : 0,
    paymentUTCDate: '2026-03-01T10:00:00.000Z',
    modifiedUTCDate: '2026-03-01T10:00:01.000Z',
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: state === 'failed' ? [paymentError('card.insufficient-funds')] : [],
    source: payable.source,
    payable: {
      payableId: payable.payableId,
      state: state === 'success' ? 'paid' : state === 'failed' ? 'open' : 'reserved',
      version,
      paymentCount,
    },
    merchantName: 'Karoo Books',
    siteReference: 'web',
    ...rest,
  };
}

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  CardKeyPublishedV1,
  type ChargeCard,
  ChargeCardV1,
  CheckPaymentsV1,
  type CommandType,
  type HostedPaymentSnapshot,
  type HostedSessionSource,
  type PayableDescriptor,
  type PayableSource,
  paymentError,
  type PublicKeyJwk,
  SessionCreatedV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import type { ReplyEnvelope } from '@svc/messaging';
import { anEvent, startTestService, type TestService } from '@svc/testing';
import { hostedGatewayService } from '../src/index.js';
import { type Merchant, newMerchant, type SiteOptions } from './merchants.js';

export type { Merchant } from './merchants.js';

export const CARD_KEY: PublicKeyJwk = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'k', use: 'enc', alg: 'ECDH-ES' };

/** Differs from the gateway's own URL, so that a mix-up fails. */
export const CODES_URL = 'https://codes.example';

export const ADMIN_KEY = 'an administration key for tests 1';

export interface Gateway extends TestService {
  /** Delivers the events of identity for a site of a merchant with its keys; a new merchant by default. */
  aMerchant(site?: SiteOptions): Promise<Merchant>;
  call(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    options?: { headers?: Record<string, string>; payload?: unknown },
  ): Promise<Answer>;
  createSession(merchant: Merchant, over?: Record<string, unknown>, version?: string): Promise<string>;
  payableOf(sessionId: string): Promise<PayableDescriptor>;
  /** Responds to charge commands as payment-processor, with the replies from `answer`. */
  charges(answer: (command: ChargeCard) => ReplyEnvelope | Promise<ReplyEnvelope>): Promise<void>;
  /** Responds to this command. */
  responds<Request>(
    command: CommandType<Request, unknown>,
    answer: (request: Request) => ReplyEnvelope | Promise<ReplyEnvelope>,
  ): Promise<void>;
  /** Responds to CheckPayments commands. */
  checks(answer: (command: { payableId: string }) => ReplyEnvelope): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
}

export async function startGateway(env: Record<string, string> = {}): Promise<Gateway> {
  execFileSync(process.execPath, [join(import.meta.dirname, '../browser/build.ts')]);
  const test = await startTestService(hostedGatewayService, {
    env: {
      SVC_GATEWAY_URL: 'https://pay.example',
      SVC_CODES_URL: CODES_URL,
      SVC_ADMIN_KEY: ADMIN_KEY,
      SVC_ACQUIRER_LIVE: 'simulated',
      ...env,
    },
  });
  await test.deliver(anEvent(CardKeyPublishedV1, 'card-key', 1, { publicJwk: CARD_KEY }));
  const answering = new Map<string, { close(): Promise<void> }>();
  const respond = async (
    command: string,
    answer: (payload: unknown) => ReplyEnvelope | Promise<ReplyEnvelope>,
  ): Promise<void> => {
    await answering.get(command)?.close();
    const responder = (payload: unknown): Promise<ReplyEnvelope> => Promise.resolve(answer(payload));
    answering.set(command, await test.broker.respond(command, responder));
  };

  const call: Gateway['call'] = async (method, url, { headers = {}, payload } = {}) => {
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
    call,
    aMerchant: (site = {}) => newMerchant(test, site),
    createSession: async (merchant, over = {}, version = 'v3.1') => {
      const { status, body, text } = await call('POST', `/api/${version}/sessions`, {
        headers: merchant.headers,
        payload: aSessionRequest(over),
      });
      if (status !== 201) throw new Error(`No session: ${status} ${text}`);
      return body.sessionId as string;
    },
    payableOf: async (sessionId) => {
      const event = (await test.published(SessionCreatedV1)).find(({ aggregateId }) => aggregateId === sessionId);
      if (!event) throw new Error('session.created was not published.');
      return event.payload.payable;
    },
    responds: ({ name }, answer) => respond(name, answer as (request: unknown) => ReplyEnvelope),
    charges: (answer) => respond(ChargeCardV1.name, (command) => answer(command as ChargeCard)),
    checks: (answer) => respond(CheckPaymentsV1.name, (command) => answer(command as { payableId: string })),
  };
}

export function aSessionRequest(over: Record<string, unknown> = {}): Record<string, unknown> {
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
    ...over,
  };
}

/** A payment of a session, or of an invoice, as payment-processor would report it; `version` is the payable's. */
export function aPayment<Source extends PayableSource = HostedSessionSource>(
  payable: PayableDescriptor<Source>,
  over: Partial<HostedPaymentSnapshot<Source>> & { version: number; tries?: number },
): HostedPaymentSnapshot<Source> {
  const { version, tries = 1, ...rest } = over;
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
      tries,
    },
    ...rest,
  };
}

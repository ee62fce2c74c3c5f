import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import {
  type InvoiceSource,
  type MerchantChanged,
  MerchantChangedV1,
  type Mode,
  PartnerKeyChangedV1,
  type PayableDescriptor,
  SCOPES_OF,
  SiteChangedV1,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_SECONDS,
  TokenKeyChangedV1,
  type TokenType,
} from '@svc/contracts';
import { anEvent, httpClient, type HttpResponse } from '@svc/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { buildInvoicePayable } from './builders.js';
import { CARDS } from './encrypted-card.js';
import type { Processor } from './processor.js';

type Call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object | string) => Promise<HttpResponse>;

/** A client of the main API: a partner's server, or one of the partner's customers. */
export interface Caller {
  readonly call: Call;
  /** `POST /v1/payments` of this payable, by default with an approved card, a new reference and a new customer. */
  pay(payable: PayableDescriptor, overrides?: Record<string, unknown>): Promise<HttpResponse>;
}

export interface PartnerUnderTest extends Caller {
  readonly organisationId: string;
  /** Returns a client with the token of this customer, by default of a new customer. */
  customer(customerReference?: string): Promise<Caller & { readonly customerReference: string }>;
}

/**
 * Creates a partner, and publishes its events as the service identity does. By default the partner belongs to a new
 * organisation.
 */
export async function createPartner(
  processor: Processor,
  mode: Mode = 'test',
  organisationId: string = randomUUID(),
): Promise<PartnerUnderTest> {
  const [kid, keyId] = [randomUUID(), randomUUID()];
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const { x, y } = await exportJWK(publicKey);
  const apiKey = newApiKey('partner', mode);
  await processor.deliver(
    anEvent(TokenKeyChangedV1, kid, 1, {
      publicJwk: { kty: 'EC', crv: 'P-256', x: x!, y: y!, kid, use: 'sig', alg: 'ES256' },
      withdrawn: false,
    }),
    anEvent(PartnerKeyChangedV1, keyId, 1, { keyId, organisationId, mode, hash: hashApiKey(apiKey), revoked: false }),
  );
  const callerWith = async (typ: TokenType, sub: string): Promise<Caller> => {
    const iat = Math.floor(processor.clock.now().getTime() / 1000);
    const scope = SCOPES_OF[typ].join(' ');
    const claims = { iss: TOKEN_ISSUER, aud: TOKEN_AUDIENCE, sub, org: organisationId, typ, mode, scope, iat };
    const token = await new SignJWT({ ...claims, exp: iat + TOKEN_SECONDS, jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
      .sign(privateKey);
    const call: Call = httpClient(processor.service, { 'x-api-key': apiKey, authorization: `Bearer ${token}` });
    const customer = typ === 'service' ? { customer: { id: randomUUID() } } : {};
    return {
      call,
      pay: (payable, overrides = {}) =>
        call('POST', '/v1/payments', {
          reference: randomUUID(),
          invoiceReference: payable.payableId,
          amount: payable.amount,
          ...customer,
          paymentMethod: { card: buildPlainCard() },
          ...overrides,
        }),
    };
  };
  return {
    organisationId,
    ...(await callerWith('service', randomUUID())),
    customer: async (customerReference = randomUUID()) => ({
      customerReference,
      ...(await callerWith('customer', customerReference)),
    }),
  };
}

/** A plain-text card, as a partner sends it inside TLS. */
export function buildPlainCard(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    cardNumber: CARDS.approved,
    cvv: '123',
    holderName: 'T Payer',
    expiryMonth: 12,
    expiryYear: 2030,
    ...overrides,
  };
}

let nextCode = 0;

/** Opens an invoice of R 123.45 with a unique code. */
export async function openInvoice(
  processor: Processor,
  overrides: Partial<PayableDescriptor<InvoiceSource>> = {},
): Promise<PayableDescriptor<InvoiceSource>> {
  const payableId = randomUUID();
  const code = String(++nextCode).padStart(20, '7');
  const payable = buildInvoicePayable({
    payableId,
    source: { kind: 'invoice', invoiceReference: payableId, externalReference: 'inv-1', siteReference: 'TILL-1', code },
    ...overrides,
  });
  await processor.openPayable({ payable });
  return payable;
}

let merchantId = 20_000;
let version = 0;

/** Publishes the events of a merchant with a site as the service identity does. By default the merchant is new. */
export async function createMerchant(
  processor: Processor,
  overrides: Partial<MerchantChanged> = {},
  siteId = 5001,
): Promise<{ merchantId: number; siteId: number }> {
  const ids = { merchantId: overrides.merchantId ?? ++merchantId, siteId };
  await processor.deliver(
    anEvent(MerchantChangedV1, String(ids.merchantId), ++version, {
      merchantId: ids.merchantId,
      name: 'Karoo Books',
      features: {},
      minimumAmount: 100,
      grants: [],
      fees: {},
      timeZones: [{ zone: 'Africa/Johannesburg' }],
      ...overrides,
    }),
    anEvent(SiteChangedV1, String(ids.siteId), ++version, {
      merchantId: ids.merchantId,
      merchantName: 'Karoo Books',
      siteId: ids.siteId,
      siteReference: 'WEB',
      name: 'Shop',
      requireApiKey: true,
      allowedHosts: [],
      keylessMode: 'test',
      webhookEnabled: false,
      challengePayers: false,
    }),
  );
  return ids;
}

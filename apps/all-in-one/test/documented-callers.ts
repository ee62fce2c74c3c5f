import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import type { KnownValues } from '@svc/testing/documented-api';
import { TwoMerchants } from './hosted-callers.js';
import { ADMIN_KEY, type Answer, type Call, type MainApi } from './main-api.js';
import { TwoPartners } from './two-partners.js';

/** A caller of one API, with the credentials and ids that its operations need. Used by documented-requests.int-spec.ts. */
export interface DocumentedCaller {
  /** `docs/reference/<name>.openapi.json` */
  readonly name: 'partner' | 'merchant' | 'gateway' | 'administration';
  readonly endpoints: readonly string[];
  readonly call: (call: Call) => Promise<Answer>;
  /** Credentials with access to all objects in `known`. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly wrong: readonly Readonly<Record<string, string>>[];
  readonly known: KnownValues;
  /** Operations that cannot succeed in this test, with the reason. */
  readonly neverDone: Readonly<Record<string, string>>;
}

/** Creates one object of each kind, so that each operation can succeed. */
export async function documentedCallers(api: MainApi): Promise<DocumentedCaller[]> {
  const [partners, merchants] = [await TwoPartners.onboard(api), await TwoMerchants.onboard(api)];
  return [
    await partnerCaller(api, partners),
    await merchantCaller(api, partners),
    await gatewayCaller(api, merchants),
    await administrator(api),
  ];
}

const CARD = { cardNumber: '4242424242424242', holderName: 'Thandi Nkosi', expiryMonth: 12, expiryYear: 2030 };

async function partnerCaller(api: MainApi, two: TwoPartners): Promise<DocumentedCaller> {
  const { paymentReference } = await newPayment(two);
  const [invoice, other] = [await two.newInvoice(), await two.newInvoice()];
  const userless = await two.as<{ userId: string }>('A', {
    method: 'POST',
    path: '/v1/auth/users',
    body: { email: 'sipho@example.com', password: two.password },
  });
  const email = two.customers.get('A’s 1')!.email;
  return {
    name: 'partner',
    endpoints: api.endpoints.filter((endpoint) => !/ \/(business|health|reference|errors)/.test(endpoint)),
    call: (call) => api.call(call),
    credentials: { 'x-api-key': two.keys.get('A')!, authorization: `Bearer ${two.tokens.get('A')!}` },
    wrong: [
      { 'x-api-key': two.keys.get('A')! },
      { 'x-api-key': two.keys.get('B')!, authorization: `Bearer ${two.tokens.get('A')!}` },
      { 'x-api-key': two.keys.get('A')!, authorization: `Bearer ${two.tokens.get('A’s 1')!}` },
      { 'x-api-key': two.keys.get('merchant 1')!, authorization: 'Bearer nonsense' },
    ],
    known: {
      ...CARD,
      ...two.logins.get('A')!,
      paymentReference,
      code: Buffer.from(invoice.code).toString('base64'),
      token: await two.newCard('A'),
      userId: userless.userId,
      email: 'thandi@example.com',
      'customersLogIn.email': email,
      password: two.password,
      firstName: 'Thandi',
      lastName: 'Nkosi',
      'partnerPaymentsMake.body': {
        reference: randomUUID(),
        invoiceReference: other.reference,
        amount: other.amount,
        customer: { id: 'customer-17', firstName: 'Thandi', lastName: 'Nkosi' },
        paymentMethod: { card: { ...CARD, cvv: '123' } },
      },
    },
    neverDone: {},
  };
}

async function merchantCaller(api: MainApi, two: TwoPartners): Promise<DocumentedCaller> {
  const { paymentReference, invoice } = await newPayment(two);
  const [open, closing] = [await two.newInvoice(), await two.newInvoice()];
  const [, merchantId, siteId] = /merchants\/(\d+)\/sites\/(\d+)/.exec(two.sitePath)!;
  await two.ask('site 1', 'none', { method: 'PUT', path: `${two.sitePath}/tills/TILL-1/code` });
  await waitUntil('the merchant to find the payment', 20_000, async () => {
    await api.tellEverybody();
    const path = `${two.sitePath}/payments/${paymentReference}`;
    return (await two.ask('site 1', 'none', { method: 'GET', path })).text.includes(paymentReference);
  });
  return {
    name: 'merchant',
    endpoints: api.endpoints.filter((endpoint) => endpoint.includes(' /business')),
    call: (call) => api.call(call),
    credentials: { 'x-api-key': two.keys.get('merchant 1')! },
    wrong: [
      {},
      { 'x-api-key': two.keys.get('merchant 2')! },
      { 'x-api-key': two.keys.get('site 2')! },
      { authorization: `Bearer ${two.keys.get('A')!}` },
    ],
    known: {
      merchantId: Number(merchantId),
      siteId: Number(siteId),
      svcId: paymentReference,
      invoiceId: invoice.reference,
      externalReference: invoice.externalReference,
      reference: open.reference,
      siteReference: 'TILL-1',
      day: api.clock.nowISO().slice(0, 10),
      'idempotency-key': 'refund-of-order-17',
      'refundsCreate.amount': 1_000,
      reason: 'One mug was broken',
      'invoicesClose.externalReference': closing.externalReference,
      'invoicesCreate.body': {
        externalReference: 'order-17',
        siteReference: 'TILL-1',
        currencyISOCode: 'ZAR',
        amount: 8_950,
        lineItems: [{ name: 'Flat white', productCode: 'FW', unitPrice: '4475', quantity: 2 }],
        origin: 'Karoo POS',
        createdUTCDate: api.clock.nowISO(),
      },
    },
    neverDone: {},
  };
}

async function gatewayCaller(api: MainApi, two: TwoMerchants): Promise<DocumentedCaller> {
  const { sessionId, paymentReference } = await two.newPaidSession('site 1');
  await two.newPaidSession('site 1');
  const { merchantId, siteId } = two.numbers.get('site 1')!;
  const [delivery, other] = await deliveriesOf(api, two);
  const shop = (path: string): string => `https://shop.example/${path}`;
  return {
    name: 'gateway',
    endpoints: api.hostedEndpoints.filter((endpoint) => endpoint.includes(' /api/')),
    call: (call) => api.callHosted(call),
    credentials: { 'x-api-key': two.keys.get('site 1')! },
    wrong: [{}, { 'x-api-key': two.keys.get('site 2')! }, { 'x-api-key': two.keys.get('a partner')! }],
    known: {
      merchantId: Number(merchantId),
      merchantSiteId: Number(siteId),
      sessionId,
      paymentReference,
      id: delivery!.id,
      'deliveriesResendV3.id': other!.id,
      'sessionsCancel.sessionId': await two.newSession('site 1'),
      'sessionsCancelV3.sessionId': await two.newSession('site 1'),
      requestId: 'order-17-1',
      merchantOrderId: 'order-17',
      amount: 12_345,
      notificationUrl: shop('hook'),
      returnUrl: shop('return'),
      cancelUrl: shop('cart'),
      origin: 'shop.example',
      siteName: 'Karoo Roastery',
      customFields: [{ key: 'Delivery', value: 'Collect in store' }],
    },
    neverDone: {},
  };
}

async function deliveriesOf(api: MainApi, two: TwoMerchants): Promise<{ id: string }[]> {
  let deliveries: { id: string }[] = [];
  await waitUntil('the deliveries of two sessions', 20_000, async () => {
    await api.tellEverybody();
    const { text } = await two.as('site 1', { method: 'GET', path: '/api/v3.1/deliveries' });
    deliveries = (JSON.parse(text) as { deliveries: { id: string }[] }).deliveries;
    return deliveries.length === 2;
  });
  return deliveries;
}

/** Has its own merchant and partner, because its requests change them and must not affect other callers. */
async function administrator(api: MainApi): Promise<DocumentedCaller> {
  const make = (path: string, body: object) => api.administer('POST', path, body);
  const { merchantId } = await make('/merchants', { name: 'Karoo Roastery' });
  const { siteId } = await make(`/merchants/${merchantId}/sites`, { name: 'Online', siteReference: 'KAROO-1' });
  const { organisationId } = await make('/organisations', { name: 'Wallet' });
  const ofMerchant = await make(`/merchants/${merchantId}/keys`, { mode: 'test' });
  const ofSite = await make(`/merchants/${merchantId}/sites/${siteId}/keys`, { mode: 'test' });
  const secret = await make(`/merchants/${merchantId}/sites/${siteId}/webhook-secrets`, { mode: 'test' });
  const key = await make(`/organisations/${organisationId}/keys`, { mode: 'test' });
  const token = await make(`/organisations/${organisationId}/api-tokens`, { mode: 'test' });
  const { runId } = await make('/reconciliations', {});
  let notification: { id: string; paymentReference: string } | undefined;
  await waitUntil('a notification', 20_000, async () => {
    await api.tellEverybody();
    const list = await api.administer('GET', '/notifications');
    [notification] = list['notifications'] as unknown as { id: string; paymentReference: string }[];
    return notification !== undefined;
  });
  const keys = (await api.administer('GET', '/token-keys'))['tokenKeys'] as unknown as { kid: string }[];
  return {
    name: 'administration',
    endpoints: api.adminEndpoints.filter((endpoint) => !/ \/(reference|health|errors)/.test(endpoint)),
    call: (call) => api.callAdmin(call),
    credentials: { 'x-admin-key': ADMIN_KEY },
    wrong: [{}, { 'x-admin-key': 'nonsense' }, { 'x-api-key': ofMerchant['apiKey']! }],
    known: {
      merchantId,
      siteId,
      organisationId,
      'apiKeysRevokeOfMerchant.keyId': ofMerchant['keyId'],
      'apiKeysRevokeOfSite.keyId': ofSite['keyId'],
      'partnerCredentialsRevokeKey.keyId': key['keyId'],
      secretId: secret['secretId'],
      tokenId: token['tokenId'],
      kid: keys.at(-1)?.kid,
      runId,
      id: notification?.id,
      'adminRefundsList.svcId': notification?.paymentReference,
      'replaysMany.state': 'exhausted',
      service: 'identity',
      name: 'Karoo Roastery',
      'sitesCreate.name': 'Counter',
      'sitesCreate.siteReference': 'KAROO-2',
      siteReference: 'KAROO-1',
      mode: 'test',
      accountReference: 'acquirer-merchant-17',
      day: api.clock.nowISO().slice(0, 10),
    },
    neverDone: {
      deadLettersReplay: 'no message is dead',
      ledgerDay: 'the day is not closed',
    },
  };
}

async function newPayment(two: TwoPartners) {
  const invoice = await two.newInvoice();
  const request = { reference: randomUUID(), invoiceReference: invoice.reference, amount: invoice.amount };
  const { paymentReference } = await two.as<{ paymentReference: string }>('A', {
    method: 'POST',
    path: '/v1/payments',
    body: { ...request, customer: { id: randomUUID() }, paymentMethod: { card: { ...CARD, cvv: '123' } } },
  });
  return { paymentReference, invoice };
}

import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import type { KnownValues } from '@svc/testing/documented-api';
import { reportDispute } from './dispute-reports.js';
import { TwoMerchants } from './hosted-callers.js';
import { addSecondFactor, ADMIN_KEY, type ApiRequest, type ApiResponse, type MainApi } from './main-api.js';
import { TwoPartners } from './two-partners.js';

/** A caller of one API for documented-requests.int-spec.ts, with the credentials and ids that the operations need. */
export interface DocumentedCaller {
  /** `docs/reference/<name>.openapi.json` */
  readonly name: 'partner' | 'merchant' | 'gateway' | 'administration';
  readonly endpoints: readonly string[];
  readonly call: (call: ApiRequest) => Promise<ApiResponse>;
  /** Credentials with access to all objects in `knownValues`. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Missing or wrong credentials, and credentials without access to all objects in `knownValues`. */
  readonly wrongCredentials: readonly Readonly<Record<string, string>>[];
  readonly knownValues: KnownValues;
  /** The reasons why some operations cannot succeed in this test, by operation id. */
  readonly reasonsForFailure: Readonly<Record<string, string>>;
}

/** Creates one object of each kind, so that each operation can succeed. */
export async function createDocumentedCallers(api: MainApi): Promise<DocumentedCaller[]> {
  const [partners, merchants] = [await TwoPartners.onboard(api), await TwoMerchants.onboard(api)];
  return [
    await createPartnerCaller(api, partners),
    await createMerchantCaller(api, partners),
    await createGatewayCaller(api, merchants),
    await createAdministrator(api),
  ];
}

const CARD = { cardNumber: '4242424242424242', holderName: 'Thandi Nkosi', expiryMonth: 12, expiryYear: 2030 };

async function createPartnerCaller(api: MainApi, partners: TwoPartners): Promise<DocumentedCaller> {
  const { paymentReference } = await createPayment(partners);
  const [decodedInvoice, paidInvoice] = [await partners.createInvoice(), await partners.createInvoice()];
  const unregisteredUser = await partners.callAs<{ userId: string }>('A', {
    method: 'POST',
    path: '/v1/auth/users',
    body: { email: 'sipho@example.com', password: partners.password },
  });
  const email = partners.customers.get('A’s 1')!.email;
  return {
    name: 'partner',
    endpoints: api.endpoints.filter(
      (endpoint) => !/ \/(business|health|reference|errors|v1\/acquirers)/.test(endpoint),
    ),
    call: (call) => api.call(call),
    credentials: { 'x-api-key': partners.keys.get('A')!, authorization: `Bearer ${partners.tokens.get('A')!}` },
    wrongCredentials: [
      {},
      { 'x-api-key': partners.keys.get('A')! },
      { 'x-api-key': partners.keys.get('B')!, authorization: `Bearer ${partners.tokens.get('A')!}` },
      { 'x-api-key': partners.keys.get('A')!, authorization: `Bearer ${partners.tokens.get('A’s 1')!}` },
      { 'x-api-key': partners.keys.get('merchant 1')!, authorization: 'Bearer nonsense' },
    ],
    knownValues: {
      ...CARD,
      ...partners.logins.get('A')!,
      paymentReference,
      code: Buffer.from(decodedInvoice.code).toString('base64'),
      token: await partners.storeCard('A'),
      userId: unregisteredUser.userId,
      email: 'thandi@example.com',
      'customersLogIn.email': email,
      password: partners.password,
      firstName: 'Thandi',
      lastName: 'Nkosi',
      'partnerPaymentsMake.body': {
        reference: randomUUID(),
        invoiceReference: paidInvoice.reference,
        amount: paidInvoice.amount,
        customer: { id: 'customer-17', firstName: 'Thandi', lastName: 'Nkosi' },
        paymentMethod: { card: { ...CARD, cvv: '123' } },
      },
    },
    reasonsForFailure: {
      browserDataShow: 'The URL has no signature: the simulated bank needs no data of a browser.',
      browserDataCharge: 'The URL has no signature: the simulated bank needs no data of a browser.',
    },
  };
}

async function createMerchantCaller(api: MainApi, partners: TwoPartners): Promise<DocumentedCaller> {
  const { paymentReference, invoice } = await createPayment(partners);
  const [openInvoice, closedInvoice] = [await partners.createInvoice(), await partners.createInvoice()];
  const [, merchantId, siteId] = /merchants\/(\d+)\/sites\/(\d+)/.exec(partners.sitePath)!;
  await reportDispute(api, {
    ...{ paymentReference, disputeReference: 'dispute-17', kind: 'debited', amount: 2_500 },
    respondBy: api.clock.later(14 * 86_400_000),
  });
  await partners.send('site 1', 'none', { method: 'PUT', path: `${partners.sitePath}/tills/TILL-1/code` });
  await waitUntil('the merchant to find the payment', 20_000, async () => {
    await api.relayAllEvents();
    const path = `${partners.sitePath}/payments/${paymentReference}`;
    return (await partners.send('site 1', 'none', { method: 'GET', path })).text.includes(paymentReference);
  });
  return {
    name: 'merchant',
    endpoints: api.endpoints.filter((endpoint) => endpoint.includes(' /business')),
    call: (call) => api.call(call),
    credentials: { 'x-api-key': partners.keys.get('merchant 1')! },
    wrongCredentials: [
      {},
      { 'x-api-key': partners.keys.get('merchant 2')! },
      { 'x-api-key': partners.keys.get('site 2')! },
      { authorization: `Bearer ${partners.keys.get('A')!}` },
    ],
    knownValues: {
      merchantId: Number(merchantId),
      siteId: Number(siteId),
      svcId: paymentReference,
      invoiceId: invoice.reference,
      externalReference: invoice.externalReference,
      orderId: invoice.externalReference,
      'paymentSearchFind.from': api.clock.nowISO().slice(0, 10),
      'paymentSearchFind.to': api.clock.nowISO().slice(0, 10),
      reference: openInvoice.reference,
      siteReference: 'TILL-1',
      day: api.clock.nowISO().slice(0, 10),
      from: api.clock.nowISO().slice(0, 10),
      to: api.clock.nowISO().slice(0, 10),
      'idempotency-key': 'refund-of-order-17',
      'refundsCreate.amount': 1_000,
      reason: 'One mug was broken',
      'invoicesClose.externalReference': closedInvoice.externalReference,
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
    reasonsForFailure: {},
  };
}

async function createGatewayCaller(api: MainApi, merchants: TwoMerchants): Promise<DocumentedCaller> {
  const { sessionId, paymentReference } = await merchants.createPaidSession('site 1');
  await merchants.createPaidSession('site 1');
  const { merchantId, siteId } = merchants.siteIds.get('site 1')!;
  const [delivery, resentDelivery] = await waitForDeliveries(api, merchants);
  const shopUrl = (path: string): string => `https://shop.example/${path}`;
  return {
    name: 'gateway',
    endpoints: api.hostedEndpoints.filter((endpoint) => endpoint.includes(' /api/')),
    call: (call) => api.callHosted(call),
    credentials: { 'x-api-key': merchants.keys.get('site 1')! },
    wrongCredentials: [
      {},
      { 'x-api-key': merchants.keys.get('site 2')! },
      { 'x-api-key': merchants.keys.get('a partner')! },
    ],
    knownValues: {
      merchantId: Number(merchantId),
      merchantSiteId: Number(siteId),
      sessionId,
      paymentReference,
      id: delivery!.id,
      'deliveriesResendV3.id': resentDelivery!.id,
      'sessionsCancel.sessionId': await merchants.createSession('site 1'),
      'sessionsCancelV3.sessionId': await merchants.createSession('site 1'),
      requestId: 'order-17-1',
      merchantOrderId: 'order-17',
      amount: 12_345,
      notificationUrl: shopUrl('hook'),
      returnUrl: shopUrl('return'),
      cancelUrl: shopUrl('cart'),
      origin: 'shop.example',
      siteName: 'Karoo Roastery',
      customFields: [{ key: 'Delivery', value: 'Collect in store' }],
    },
    reasonsForFailure: {},
  };
}

async function waitForDeliveries(api: MainApi, merchants: TwoMerchants): Promise<{ id: string }[]> {
  let deliveries: { id: string }[] = [];
  await waitUntil('the deliveries of two sessions', 20_000, async () => {
    await api.relayAllEvents();
    const { text } = await merchants.callAs('site 1', { method: 'GET', path: '/api/v3.1/deliveries' });
    deliveries = (JSON.parse(text) as { deliveries: { id: string }[] }).deliveries;
    return deliveries.length === 2;
  });
  return deliveries;
}

/** Uses a merchant and a partner that no other caller uses, because the requests change them. */
async function createAdministrator(api: MainApi): Promise<DocumentedCaller> {
  const create = (path: string, body: object) => api.administer('POST', path, body);
  const { merchantId } = await create('/merchants', { name: 'Karoo Roastery' });
  const { siteId } = await create(`/merchants/${merchantId}/sites`, { name: 'Online', siteReference: 'KAROO-1' });
  const { organisationId } = await create('/organisations', { name: 'Wallet' });
  const merchantKey = await create(`/merchants/${merchantId}/keys`, { mode: 'test' });
  const siteKey = await create(`/merchants/${merchantId}/sites/${siteId}/keys`, { mode: 'test' });
  const secret = await create(`/merchants/${merchantId}/sites/${siteId}/webhook-secrets`, { mode: 'test' });
  const key = await create(`/organisations/${organisationId}/keys`, { mode: 'test' });
  const token = await create(`/organisations/${organisationId}/api-tokens`, { mode: 'test' });
  const invitation = await create(`/merchants/${merchantId}/people`, {
    email: 'finance@karoo.example',
    role: 'finance',
  });
  await create(`/merchants/${merchantId}/people`, { email: 'owner@karoo.example', role: 'owner' });
  // In development the link accepts the invitation, so that there is a person.
  await create('/people/sign-in-link', { email: 'owner@karoo.example' });
  const { people } = await api.administer('GET', `/merchants/${merchantId}/people`);
  const [person] = people as unknown as { personId: string }[];
  const operatorInvitation = await create('/operators', { email: 'lerato@platform.example', role: 'viewer' });
  await create('/operators', { email: 'sipho@platform.example', role: 'operator' });
  await create('/people/sign-in-link', { email: 'sipho@platform.example' });
  const { operators } = await api.administer('GET', '/operators');
  const [operator] = operators as unknown as { personId: string }[];
  await addSecondFactor(api, operator!.personId);
  const operatorKey = { email: 'sipho@platform.example', role: 'viewer', days: 30 };
  const { keyId: operatorKeyId } = await create('/operator-keys', operatorKey);
  const { runId } = await create('/reconciliations', {});
  let notification: { id: string; paymentReference: string } | undefined;
  await waitUntil('a notification', 20_000, async () => {
    await api.relayAllEvents();
    const page = await api.administer('GET', '/notifications');
    [notification] = page['notifications'] as unknown as { id: string; paymentReference: string }[];
    return notification !== undefined;
  });
  const keys = (await api.administer('GET', '/token-keys'))['tokenKeys'] as unknown as { kid: string }[];
  return {
    name: 'administration',
    endpoints: api.adminEndpoints.filter((endpoint) => !/ \/(reference|health|errors)/.test(endpoint)),
    call: (call) => api.callAdmin(call),
    credentials: { 'x-admin-key': ADMIN_KEY },
    wrongCredentials: [{}, { 'x-admin-key': 'nonsense' }, { 'x-api-key': merchantKey['apiKey']! }],
    knownValues: {
      merchantId,
      siteId,
      organisationId,
      'apiKeysRevokeOfMerchant.keyId': merchantKey['keyId'],
      'apiKeysRevokeOfSite.keyId': siteKey['keyId'],
      'partnerCredentialsRevokeKey.keyId': key['keyId'],
      secretId: secret['secretId'],
      tokenId: token['tokenId'],
      kid: keys.at(-1)?.kid,
      'peopleInvite.email': 'support@karoo.example',
      'peopleRemove.id': invitation['invitationId'],
      'personFactorsReset.id': person?.personId,
      'signInLinksCreate.email': 'owner@karoo.example',
      'operatorsInvite.email': 'zola@platform.example',
      'operatorsChange.id': operator?.personId,
      'operatorsChange.role': 'operator',
      'operatorKeysCreate.email': operatorKey.email,
      'operatorKeysCreate.role': operatorKey.role,
      'operatorKeysCreate.days': operatorKey.days,
      'operatorKeysRevoke.keyId': operatorKeyId,
      'operatorsRemove.id': operatorInvitation['invitationId'],
      runId,
      id: notification?.id,
      'adminRefundsList.svcId': notification?.paymentReference,
      'timelineFind.find': notification?.paymentReference,
      'replaysMany.state': 'exhausted',
      service: 'identity',
      name: 'Karoo Roastery',
      'sitesCreate.name': 'Counter',
      'sitesCreate.siteReference': 'KAROO-2',
      siteReference: 'KAROO-1',
      mode: 'test',
      accountReference: 'acquirer-merchant-17',
      day: api.clock.nowISO().slice(0, 10),
      from: api.clock.nowISO().slice(0, 10),
      to: api.clock.nowISO().slice(0, 10),
      timeZone: 'Africa/Maputo',
      'velocityLimitsList.merchantId': merchantId,
      'velocityCountersShow.siteId': siteId,
      'velocityCountersRelease.body': { mode: 'test', siteId },
      'looksSet.body': { accentColour: '#0a7d4f', displayName: 'Karoo Roastery', supportEmail: 'help@karoo.example' },
      'velocityCountersBlock.body': {
        mode: 'test',
        siteId,
        range: '40000000',
        untilUTCDate: api.clock.later(3_600_000).toISOString(),
      },
    },
    reasonsForFailure: {
      deadLettersDrop: 'there are no dead letters',
      deadLettersReplay: 'there are no dead letters',
      ledgerDay: 'the day is not closed',
      ledgerSeal: 'the numbers of seals begin with 1',
      restoresOpen: 'no restore is open',
      restoresRepair: 'no restore is open',
      looksSetLogo: 'The requests of this test contain no images.',
    },
  };
}

async function createPayment(partners: TwoPartners) {
  const invoice = await partners.createInvoice();
  const request = { reference: randomUUID(), invoiceReference: invoice.reference, amount: invoice.amount };
  const { paymentReference } = await partners.callAs<{ paymentReference: string }>('A', {
    method: 'POST',
    path: '/v1/payments',
    body: { ...request, customer: { id: randomUUID() }, paymentMethod: { card: { ...CARD, cvv: '123' } } },
  });
  return { paymentReference, invoice };
}

import { randomUUID } from 'node:crypto';
import { newPaymentReference } from '@svc/kernel';
import type { Call } from '../main-api.js';
import type { TwoPartners } from '../two-partners.js';
import {
  aCard,
  type Customer,
  type Invoice,
  KEYS,
  MERCHANTS,
  type Partner,
  PARTNERS,
  serverOf,
  SERVERS,
} from '../two-partners.js';

/**
 * Required credentials. `partner`: key and token of one organisation and mode; `partner key`: a key, with any token;
 * `merchant key`: a merchant's key, with any token; `nobody`: no credentials.
 */
export type Needs = 'partner' | 'partner key' | 'merchant key' | 'nobody';

/** Callers with a column of their own, by required credentials; all other callers share one column. */
export const COLUMNS: Readonly<Record<Needs, readonly string[]>> = {
  partner: PARTNERS,
  'partner key': SERVERS,
  'merchant key': MERCHANTS,
  nobody: [],
};

/** A payment and the objects from which it was made, except its customer. */
export interface TestPayment {
  readonly paymentReference: string;
  readonly externalReference: string;
  readonly request: { readonly invoiceReference: string };
}

/** The existing objects. */
export interface Objects {
  readonly two: TwoPartners;
  readonly payments: ReadonlyMap<Partner, TestPayment>;
  readonly invoices: Readonly<Record<'test' | 'live', Invoice>>;
  readonly cards: ReadonlyMap<Partner, string>;
}

export interface Row {
  /** As declared by the controller. */
  readonly endpoint: string;
  readonly object: string;
  readonly needs: Needs;
  /**
   * The status for each column; `404/21` where the errorReference is another one than 40, `200:2` where a list has two
   * payments: then they are exactly those whose customers the caller may see.
   */
  readonly answers: string;
  /** The status for all other callers. */
  readonly others: '401' | '200';
  /** Called for each authorised caller; unauthorised callers need no objects of their own. */
  readonly call: (objects: Objects, caller: string | undefined) => Call | Promise<Call>;
}

const partner = (endpoint: string, object: string, answers: string, call: Row['call']): Row => ({
  ...{ endpoint, object, answers, call },
  ...{ needs: 'partner', others: '401' },
});
const merchant = (endpoint: string, object: string, answers: string, call: Row['call']): Row => ({
  ...partner(endpoint, object, answers, call),
  needs: 'merchant key',
});
const open = (endpoint: string, object: string, call: Row['call']): Row => ({
  ...{ endpoint, object, answers: '', call },
  ...{ needs: 'nobody', others: '200' },
});

const get = (path: string): Call => ({ method: 'GET', path });
const referenceOf = ({ two }: Objects, customer: Customer): string => two.customers.get(customer)!.customerReference;

const ONE = 'GET /v1/payments/:paymentReference';
const ofPayment =
  (maker: Partner): Row['call'] =>
  ({ payments }) =>
    get(`/v1/payments/${payments.get(maker)!.paymentReference}`);

const PAGES = 'GET /v1/payments';
const ofCustomer =
  (customer: Customer, spelt = (text: string) => text): Row['call'] =>
  (objects) =>
    get(`/v1/payments?customerReference=${spelt(referenceOf(objects, customer))}`);

/** These rows run first, before other rows create payments. */
const READING: readonly Row[] = [
  partner(ONE, 'a payment of A’s 1', '200 200 404 404 404 404 404', ofPayment('A’s 1')),
  partner(ONE, 'a payment of A’s 2', '200 404 200 404 404 404 404', ofPayment('A’s 2')),
  partner(ONE, 'a payment of B’s 1', '404 404 404 200 200 404 404', ofPayment('B’s 1')),
  partner(ONE, 'a live payment of A', '404 404 404 404 404 404 200', ofPayment('A live')),
  partner(ONE, 'an unknown payment', '404 404 404 404 404 404 404', ({ two }) =>
    get(`/v1/payments/${newPaymentReference(two.api.clock.now())}`),
  ),
  partner(ONE, 'what is no reference', '404 404 404 404 404 404 404', () => get('/v1/payments/%00')),
  partner(ONE, 'a kilobyte', '404 404 404 404 404 404 404', () => get(`/v1/payments/${'X'.repeat(1_024)}`)),
  partner(PAGES, 'all', '200:2 200:1 200:1 200:1 200:1 204 200:1', () => get('/v1/payments')),
  partner(PAGES, 'of A’s 1', '200:1 200:1 204 204 204 204 204', ofCustomer('A’s 1')),
  partner(
    PAGES,
    'of A’s 1 in capitals',
    '200:1 200:1 204 204 204 204 204',
    ofCustomer('A’s 1', (text) => text.toUpperCase()),
  ),
  partner(PAGES, 'of A’s 2', '200:1 204 200:1 204 204 204 204', ofCustomer('A’s 2')),
  partner(PAGES, 'of B’s 1', '204 204 204 200:1 200:1 204 204', ofCustomer('B’s 1')),
];

const CODE = 'GET /v1/codes/*';
const ofInvoice =
  (mode: 'test' | 'live'): Row['call'] =>
  ({ invoices }) =>
    get(`/v1/codes/${Buffer.from(invoices[mode].code).toString('base64')}`);
const DECODING: readonly Row[] = [
  partner(CODE, 'an invoice', '200 200 200 200 200 200 404/21', ofInvoice('test')),
  partner(CODE, 'a live invoice', '404/21 404/21 404/21 404/21 404/21 404/21 200', ofInvoice('live')),
];

const STORE = 'POST /v1/cards';
const DELETE = 'DELETE /v1/cards/:token';
const deleting =
  (owner: Partner): Row['call'] =>
  async ({ two, cards }, caller) => ({
    method: 'DELETE',
    path: `/v1/cards/${caller === undefined ? cards.get(owner)! : await two.newCard(owner)}`,
  });
const CARDS: readonly Row[] = [
  partner(STORE, 'a card', '201 201 201 201 201 201 201', () => ({ method: 'POST', path: '/v1/cards', body: aCard() })),
  partner('GET /v1/cards/encryption-key', '', '200 200 200 200 200 200 200', () => get('/v1/cards/encryption-key')),
  partner(DELETE, 'a card of A’s 1', '204 204 404 404 404 404 404', deleting('A’s 1')),
  partner(DELETE, 'a card of A', '204 404 404 404 404 404 404', deleting('A')),
  partner(DELETE, 'a card of B’s 1', '404 404 404 204 204 404 404', deleting('B’s 1')),
  partner(DELETE, 'a live card of A', '404 404 404 404 404 404 204', deleting('A live')),
  partner(DELETE, 'what is no card', '404 404 404 404 404 404 404', () => ({
    method: 'DELETE',
    path: '/v1/cards/%00',
  })),
];

const PAY = 'POST /v1/payments';
/** A server sends the customer's reference; a customer's token identifies the customer. */
const paying =
  (over: (objects: Objects) => object = () => ({}), mode: 'test' | 'live' = 'test'): Row['call'] =>
  async (objects, caller) => {
    const { two, invoices } = objects;
    const invoice = caller === undefined ? invoices[mode] : await two.newInvoice(mode);
    const isServer = caller === undefined || serverOf(caller as Partner) === caller;
    const body = {
      reference: randomUUID(),
      invoiceReference: invoice.reference,
      amount: invoice.amount,
      ...(isServer ? { customer: { id: randomUUID() } } : {}),
      paymentMethod: { card: aCard() },
      ...over(objects),
    };
    return { method: 'POST', path: '/v1/payments', body };
  };
const withCard = (owner: Partner) => (objects: Objects) => ({
  paymentMethod: { card: { token: objects.cards.get(owner)! } },
});
const forCustomer = (customer: Customer) => (objects: Objects) => ({
  customer: { id: referenceOf(objects, customer) },
});
const PAYING: readonly Row[] = [
  partner(PAY, 'an invoice', '201 201 201 201 201 201 404/21', paying()),
  partner(
    PAY,
    'a live invoice',
    '404/21 404/21 404/21 404/21 404/21 404/21 201',
    paying(() => ({}), 'live'),
  ),
  // A server chooses its references freely: B’s objects with the reference of A’s customer belong to B. A’s customer never sees them.
  partner(PAY, 'for A’s 1', '201 201 403 201 403 403 404/21', paying(forCustomer('A’s 1'))),
  partner(PAY, 'with a card of A’s 1', '404 201 404 404 404 404 404', paying(withCard('A’s 1'))),
  partner(
    PAY,
    'with a card of A’s 1, for A’s 1',
    '201 201 403 404 403 403 404',
    paying((objects) => ({ ...withCard('A’s 1')(objects), ...forCustomer('A’s 1')(objects) })),
  ),
  partner(PAY, 'with a card of A', '201 404 404 404 404 404 404', paying(withCard('A'))),
  partner(
    PAY,
    'a live invoice with a live card of A',
    '404 404 404 404 404 404 201',
    paying(withCard('A live'), 'live'),
  ),
  partner(
    PAY,
    'with vouchers, granted to A',
    '201 403 403 403 403 403 404/21',
    paying(() => ({ vouchers: [{ merchantLiable: true, amount: 1 }] })),
  ),
  partner(
    PAY,
    'made elsewhere, granted to A',
    '201 403 403 403 403 403 404/21',
    paying(() => ({ paymentMethod: { external: { type: 'EFT', status: 'success', reference: 'bank-1' } } })),
  ),
  partner(
    PAY,
    'the reference of A’s 1 again',
    '200 200 403 409/20 403 403 404/21',
    paying((objects) => ({ ...objects.payments.get('A’s 1')!.request, ...forCustomer('A’s 1')(objects) })),
  ),
  partner(
    PAY,
    'the reference of A’s 1, for oneself',
    '409 200 409 409/20 409/20 409/20 404/21',
    paying((objects) => objects.payments.get('A’s 1')!.request),
  ),
];

const post = (path: string, body: object): Call => ({ method: 'POST', path, body });
const loggingIn =
  (server: 'A' | 'B' | 'A live'): Row['call'] =>
  ({ two }) =>
    post('/v1/auth/service/login', two.logins.get(server)!);
const LOGIN: Omit<Row, 'object' | 'answers' | 'call'> = {
  ...{ endpoint: 'POST /v1/auth/service/login', needs: 'partner key', others: '401' },
};
const AUTHENTICATING: readonly Row[] = [
  partner('POST /v1/auth/users', 'a new one', '201 403 403 201 403 403 201', () =>
    post('/v1/auth/users', { email: `${randomUUID()}@example.com`, password: 'correct horse battery' }),
  ),
  partner('POST /v1/auth/customers/register', 'a user of A', '200 403 403 404 403 403 404', ({ two }) =>
    post('/v1/auth/customers/register', { userId: two.customers.get('A’s 1')!.userId }),
  ),
  partner('POST /v1/auth/customers/login', 'A’s 1', '200 403 403 401 403 403 401', ({ two }) =>
    post('/v1/auth/customers/login', { email: two.customers.get('A’s 1')!.email, password: two.password }),
  ),
  { ...LOGIN, object: 'with what is A’s', answers: '200 401 401', call: loggingIn('A') },
  { ...LOGIN, object: 'with what is B’s', answers: '401 200 401', call: loggingIn('B') },
  { ...LOGIN, object: 'with what is A’s live', answers: '401 401 200', call: loggingIn('A live') },
];

const MERCHANT = '/business/api/v1/merchants/:merchantId';
const SITE = `${MERCHANT}/sites/:siteId`;
const MERCHANTS_OWN: readonly Row[] = [
  merchant(`POST ${SITE}/invoices`, 'at site 1', '201 201 403 403 201', ({ two }) =>
    post(`${two.sitePath}/invoices`, {
      ...{ siteReference: 'TILL-1', currencyISOCode: 'ZAR', amount: 8_950, origin: 'Karoo POS' },
      createdUTCDate: two.api.clock.nowISO(),
    }),
  ),
  merchant(`GET ${SITE}/invoices/:reference`, 'of site 1', '200 200 403 403 404', ({ two, invoices }) =>
    get(`${two.sitePath}/invoices/${invoices.test.reference}`),
  ),
  merchant(`DELETE ${SITE}/invoices`, 'of site 1', '204 204 403 403 404', async ({ two, invoices }, caller) => {
    const { externalReference } = caller === undefined ? invoices.test : await two.newInvoice();
    return { method: 'DELETE', path: `${two.sitePath}/invoices?externalReference=${externalReference}` };
  }),
  merchant(`PUT ${SITE}/tills/:siteReference/code`, 'at site 1', '201 201 403 403 201', ({ two }) => ({
    method: 'PUT',
    path: `${two.sitePath}/tills/${randomUUID()}/code`,
  })),
  merchant(`GET ${SITE}/tills/:siteReference/code`, 'at site 1', '200 200 403 403 404', ({ two }) =>
    get(`${two.sitePath}/tills/TILL-1/code`),
  ),
];

/** A payment is found by its invoice, by the merchant's reference of the invoice, and by its own reference. */
const LOOK_UPS: readonly (readonly [endpoint: string, path: (payment: TestPayment) => string])[] = [
  ['/invoices/:invoiceId/payments', ({ request }) => `/invoices/${request.invoiceReference}/payments`],
  ['/payments', ({ externalReference }) => `/payments?externalReference=${externalReference}`],
  ['/payments/:svcId', ({ paymentReference }) => `/payments/${paymentReference}`],
];
const RETRIEVAL: readonly Row[] = [MERCHANT, SITE].flatMap((owner) =>
  LOOK_UPS.flatMap(([endpoint, pathOf]) =>
    (['test', 'live'] as const).map((mode) => {
      const site2 = owner === SITE ? '403' : '200:0';
      const answers = mode === 'test' ? `200:1 200:1 ${site2} 403 200:0` : `200:0 200:0 ${site2} 403 200:1`;
      return merchant(`GET ${owner}${endpoint}`, `a ${mode} payment at site 1`, answers, ({ two, payments }) => {
        const path = owner === SITE ? two.sitePath : two.sitePath.replace(/\/sites\/.*/, '');
        return get(`${path}${pathOf(payments.get(mode === 'live' ? 'A live' : 'A’s 1')!)}`);
      });
    }),
  ),
);

const REFUNDS = `${MERCHANT}/refunds`;
const refundsOf =
  (maker: Partner): Row['call'] =>
  ({ two, payments }) =>
    get(`${refundsPath(two)}?svcId=${payments.get(maker)!.paymentReference}`);
/** Refunds one cent, with an idempotency key of its own. */
const refunding =
  (maker: Partner): Row['call'] =>
  ({ two, payments }) => ({
    ...post(`${refundsPath(two)}?svcId=${payments.get(maker)!.paymentReference}`, { amount: 1 }),
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
  });
const refundsPath = ({ sitePath }: TwoPartners): string => `${sitePath.replace(/\/sites\/.*/, '')}/refunds`;
const REFUNDING: readonly Row[] = [
  merchant(`GET ${REFUNDS}`, 'of a test payment at site 1', '200:0 200:0 404 403 404', refundsOf('A’s 1')),
  merchant(`GET ${REFUNDS}`, 'of a live payment at site 1', '404 404 404 403 200:0', refundsOf('A live')),
  merchant(`POST ${REFUNDS}`, 'of a test payment at site 1', '201 201 404 403 404', refunding('A’s 1')),
  merchant(`POST ${REFUNDS}`, 'of a live payment at site 1', '404 404 404 403 201', refunding('A live')),
];

/** The settlements of the key's merchant, or site, in its mode; settlements.int-spec.ts tests their owners. */
const SETTLEMENTS: readonly Row[] = [
  merchant(`GET ${MERCHANT}/settlements/:day`, 'of merchant 1', '200 200 200 403 200', ({ two }) =>
    get(`${two.sitePath.replace(/\/sites\/.*/, '')}/settlements/2026-03-01`),
  ),
];

const STREAM: readonly Row[] = [
  merchant(`GET ${SITE}/payments/stream`, 'of site 1', '200 200 403 403 200', ({ two }) =>
    get(`${two.sitePath}/payments/stream`),
  ),
];

const OPEN: readonly Row[] = [
  open('GET /v1/verifications/:paymentReference', 'a payment of A’s 1', ({ payments }) =>
    get(`/v1/verifications/${payments.get('A’s 1')!.paymentReference}`),
  ),
  open('GET /.well-known/jwks.json', '', () => get('/.well-known/jwks.json')),
  open('GET /errors', '', () => get('/errors')),
  open('GET /errors/:code', 'a code', () => get('/errors/payable.paid')),
  open('GET /reference', '', () => get('/reference')),
  open('GET /reference/:file', '', () => get('/reference/partner.html')),
  open('GET /health/live', '', () => get('/health/live')),
  open('GET /health/ready', '', () => get('/health/ready')),
];

/** Every endpoint of the main API, and the expected status for each caller. An endpoint without a row fails the test. */
export const ROWS: readonly Row[] = [
  ...READING,
  ...DECODING,
  ...CARDS,
  ...PAYING,
  ...AUTHENTICATING,
  ...MERCHANTS_OWN,
  ...RETRIEVAL,
  ...REFUNDING,
  ...SETTLEMENTS,
  ...STREAM,
  ...OPEN,
];

/** The column of a key and a token; undefined for all other callers. */
export function callerOf(needs: Needs, key: (typeof KEYS)[number], token: string): string | undefined {
  const columns = COLUMNS[needs];
  if (needs !== 'partner') return columns.find((column) => column === key);
  return PARTNERS.find((column) => column === token && serverOf(column) === key);
}

import { randomUUID } from 'node:crypto';
import { newPaymentReference } from '@svc/kernel';
import type { ApiRequest } from '../main-api.js';
import {
  type Customer,
  findServerOf,
  KEYS,
  MERCHANTS,
  newCardData,
  type Partner,
  PARTNERS,
  SERVERS,
  type TwoPartners,
} from '../two-partners.js';
import type { NewRequest, PermissionRow, RequiredCredentials, TestData, TestPayment } from './permission-row.js';

/**
 * The callers that have their own column in the table, by required credentials. All other callers share one column. `A`
 * is the server of organisation A, and `A’s 1` is the first customer of A.
 */
export const COLUMNS: Readonly<Record<RequiredCredentials, readonly string[]>> = {
  partner: PARTNERS,
  'partner key': SERVERS,
  'merchant key': MERCHANTS,
  none: [],
};

const partnerRow = (endpoint: string, object: string, statuses: string, newRequest: NewRequest): PermissionRow => ({
  ...{ endpoint, object, statuses, newRequest },
  ...{ requires: 'partner', statusForOthers: '401' },
});
const merchantRow = (endpoint: string, object: string, statuses: string, newRequest: NewRequest): PermissionRow => ({
  ...partnerRow(endpoint, object, statuses, newRequest),
  requires: 'merchant key',
});
const publicRow = (endpoint: string, object: string, newRequest: NewRequest): PermissionRow => ({
  ...{ endpoint, object, statuses: '', newRequest },
  ...{ requires: 'none', statusForOthers: '200' },
});

const get = (path: string): ApiRequest => ({ method: 'GET', path });
const customerReference = ({ partners }: TestData, customer: Customer): string =>
  partners.customers.get(customer)!.customerReference;

const GET_PAYMENT = 'GET /v1/payments/:paymentReference';
const getPaymentOf =
  (payer: Partner): NewRequest =>
  ({ payments }) =>
    get(`/v1/payments/${payments.get(payer)!.paymentReference}`);

const VERIFICATION_START = '/v1/verifications/:paymentReference/start';
const ACQUIRER_REPORTS = '/v1/acquirers/adyen/:mode/notifications';
const LIST_PAYMENTS = 'GET /v1/payments';
const listPaymentsOf =
  (customer: Customer, changeCase = (text: string) => text): NewRequest =>
  (data) =>
    get(`/v1/payments?customerReference=${changeCase(customerReference(data, customer))}`);

/** These rows run first, before other rows create payments. */
const PAYMENT_READ_ROWS: readonly PermissionRow[] = [
  partnerRow(GET_PAYMENT, 'a payment of A’s 1', '200 200 404 404 404 404 404', getPaymentOf('A’s 1')),
  partnerRow(GET_PAYMENT, 'a payment of A’s 2', '200 404 200 404 404 404 404', getPaymentOf('A’s 2')),
  partnerRow(GET_PAYMENT, 'a payment of B’s 1', '404 404 404 200 200 404 404', getPaymentOf('B’s 1')),
  partnerRow(GET_PAYMENT, 'a live payment of A', '404 404 404 404 404 404 200', getPaymentOf('A live')),
  partnerRow(GET_PAYMENT, 'an unknown payment', '404 404 404 404 404 404 404', ({ partners }) =>
    get(`/v1/payments/${newPaymentReference(partners.api.clock.now())}`),
  ),
  partnerRow(GET_PAYMENT, 'an invalid reference', '404 404 404 404 404 404 404', () => get('/v1/payments/%00')),
  partnerRow(GET_PAYMENT, 'a reference of 1 KiB', '404 404 404 404 404 404 404', () =>
    get(`/v1/payments/${'X'.repeat(1_024)}`),
  ),
  partnerRow(LIST_PAYMENTS, 'all', '200:2 200:1 200:1 200:1 200:1 204 200:1', () => get('/v1/payments')),
  partnerRow(LIST_PAYMENTS, 'of A’s 1', '200:1 200:1 204 204 204 204 204', listPaymentsOf('A’s 1')),
  partnerRow(
    LIST_PAYMENTS,
    'of A’s 1 in capitals',
    '200:1 200:1 204 204 204 204 204',
    listPaymentsOf('A’s 1', (text) => text.toUpperCase()),
  ),
  partnerRow(LIST_PAYMENTS, 'of A’s 2', '200:1 204 200:1 204 204 204 204', listPaymentsOf('A’s 2')),
  partnerRow(LIST_PAYMENTS, 'of B’s 1', '204 204 204 200:1 200:1 204 204', listPaymentsOf('B’s 1')),
];

const DECODE = 'GET /v1/codes/*';
const decodeInvoice =
  (mode: 'test' | 'live'): NewRequest =>
  ({ invoices }) =>
    get(`/v1/codes/${Buffer.from(invoices[mode].code).toString('base64')}`);
const DECODE_ROWS: readonly PermissionRow[] = [
  partnerRow(DECODE, 'an invoice', '200 200 200 200 200 200 404/21', decodeInvoice('test')),
  partnerRow(DECODE, 'a live invoice', '404/21 404/21 404/21 404/21 404/21 404/21 200', decodeInvoice('live')),
];

const STORE_CARD = 'POST /v1/cards';
const DELETE_CARD = 'DELETE /v1/cards/:token';
const deleteCardOf =
  (owner: Partner): NewRequest =>
  async ({ partners, cards }, caller) => ({
    method: 'DELETE',
    path: `/v1/cards/${caller === undefined ? cards.get(owner)! : await partners.storeCard(owner)}`,
  });
const CARD_ROWS: readonly PermissionRow[] = [
  partnerRow(STORE_CARD, 'a card', '201 201 201 201 201 201 201', () => ({
    method: 'POST',
    path: '/v1/cards',
    body: newCardData(),
  })),
  partnerRow('GET /v1/cards/encryption-key', '', '200 200 200 200 200 200 200', () => get('/v1/cards/encryption-key')),
  partnerRow(DELETE_CARD, 'a card of A’s 1', '204 204 404 404 404 404 404', deleteCardOf('A’s 1')),
  partnerRow(DELETE_CARD, 'a card of A', '204 404 404 404 404 404 404', deleteCardOf('A')),
  partnerRow(DELETE_CARD, 'a card of B’s 1', '404 404 404 204 204 404 404', deleteCardOf('B’s 1')),
  partnerRow(DELETE_CARD, 'a live card of A', '404 404 404 404 404 404 204', deleteCardOf('A live')),
  partnerRow(DELETE_CARD, 'an invalid token', '404 404 404 404 404 404 404', () => ({
    method: 'DELETE',
    path: '/v1/cards/%00',
  })),
];

const PAY = 'POST /v1/payments';
/**
 * Pays an invoice. A server sends the customer's reference. A customer does not, because the token identifies the
 * customer.
 */
const payInvoice =
  (overrides: (data: TestData) => object = () => ({}), mode: 'test' | 'live' = 'test'): NewRequest =>
  async (data, caller) => {
    const { partners, invoices } = data;
    const invoice = caller === undefined ? invoices[mode] : await partners.createInvoice(mode);
    const isServer = caller === undefined || findServerOf(caller as Partner) === caller;
    const body = {
      reference: randomUUID(),
      invoiceReference: invoice.reference,
      amount: invoice.amount,
      ...(isServer ? { customer: { id: randomUUID() } } : {}),
      paymentMethod: { card: newCardData() },
      ...overrides(data),
    };
    return { method: 'POST', path: '/v1/payments', body };
  };
const withCard = (owner: Partner) => (data: TestData) => ({
  paymentMethod: { card: { token: data.cards.get(owner)! } },
});
const forCustomer = (customer: Customer) => (data: TestData) => ({
  customer: { id: customerReference(data, customer) },
});
const PAYMENT_ROWS: readonly PermissionRow[] = [
  partnerRow(PAY, 'an invoice', '201 201 201 201 201 201 404/21', payInvoice()),
  partnerRow(
    PAY,
    'a live invoice',
    '404/21 404/21 404/21 404/21 404/21 404/21 201',
    payInvoice(() => ({}), 'live'),
  ),
  // A server chooses customer references freely. If B uses the reference of A’s customer, the payment belongs to B, and
  // A’s customer never sees it.
  partnerRow(PAY, 'for A’s 1', '201 201 403 201 403 403 404/21', payInvoice(forCustomer('A’s 1'))),
  partnerRow(PAY, 'with a card of A’s 1', '404 201 404 404 404 404 404', payInvoice(withCard('A’s 1'))),
  partnerRow(
    PAY,
    'with a card of A’s 1, for A’s 1',
    '201 201 403 404 403 403 404',
    payInvoice((data) => ({ ...withCard('A’s 1')(data), ...forCustomer('A’s 1')(data) })),
  ),
  partnerRow(PAY, 'with a card of A', '201 404 404 404 404 404 404', payInvoice(withCard('A'))),
  partnerRow(
    PAY,
    'a live invoice with a live card of A',
    '404 404 404 404 404 404 201',
    payInvoice(withCard('A live'), 'live'),
  ),
  partnerRow(
    PAY,
    'with vouchers, granted to A',
    '201 403 403 403 403 403 404/21',
    payInvoice(() => ({ vouchers: [{ merchantLiable: true, amount: 1 }] })),
  ),
  partnerRow(
    PAY,
    'an external payment, granted to A',
    '201 403 403 403 403 403 404/21',
    payInvoice(() => ({ paymentMethod: { external: { type: 'EFT', status: 'success', reference: 'bank-1' } } })),
  ),
  partnerRow(
    PAY,
    'a repeated reference of A’s 1',
    '200 200 403 409/20 403 403 404/21',
    payInvoice((data) => ({ ...data.payments.get('A’s 1')!.request, ...forCustomer('A’s 1')(data) })),
  ),
  partnerRow(
    PAY,
    'a repeated reference of A’s 1, for oneself',
    '409 200 409 409/20 409/20 409/20 404/21',
    payInvoice((data) => data.payments.get('A’s 1')!.request),
  ),
];

const post = (path: string, body: object): ApiRequest => ({ method: 'POST', path, body });
const logInAs =
  (server: 'A' | 'B' | 'A live'): NewRequest =>
  ({ partners }) =>
    post('/v1/auth/service/login', partners.logins.get(server)!);
const LOGIN_ROW: Omit<PermissionRow, 'object' | 'statuses' | 'newRequest'> = {
  ...{ endpoint: 'POST /v1/auth/service/login', requires: 'partner key', statusForOthers: '401' },
};
const AUTHENTICATION_ROWS: readonly PermissionRow[] = [
  partnerRow('POST /v1/auth/users', 'a new user', '201 403 403 201 403 403 201', () =>
    post('/v1/auth/users', { email: `${randomUUID()}@example.com`, password: 'correct horse battery' }),
  ),
  partnerRow('POST /v1/auth/customers/register', 'a user of A', '200 403 403 404 403 403 404', ({ partners }) =>
    post('/v1/auth/customers/register', { userId: partners.customers.get('A’s 1')!.userId }),
  ),
  partnerRow('POST /v1/auth/customers/login', 'A’s 1', '200 403 403 401 403 403 401', ({ partners }) =>
    post('/v1/auth/customers/login', { email: partners.customers.get('A’s 1')!.email, password: partners.password }),
  ),
  { ...LOGIN_ROW, object: 'with A’s API token', statuses: '200 401 401', newRequest: logInAs('A') },
  { ...LOGIN_ROW, object: 'with B’s API token', statuses: '401 200 401', newRequest: logInAs('B') },
  { ...LOGIN_ROW, object: 'with A’s live API token', statuses: '401 401 200', newRequest: logInAs('A live') },
];

const MERCHANT = '/business/api/v1/merchants/:merchantId';
const SITE = `${MERCHANT}/sites/:siteId`;
const INVOICE_ROWS: readonly PermissionRow[] = [
  merchantRow(`POST ${SITE}/invoices`, 'at site 1', '201 201 403 403 201', ({ partners }) =>
    post(`${partners.sitePath}/invoices`, {
      ...{ siteReference: 'TILL-1', currencyISOCode: 'ZAR', amount: 8_950, origin: 'Karoo POS' },
      createdUTCDate: partners.api.clock.nowISO(),
    }),
  ),
  merchantRow(`GET ${SITE}/invoices/:reference`, 'of site 1', '200 200 403 403 404', ({ partners, invoices }) =>
    get(`${partners.sitePath}/invoices/${invoices.test.reference}`),
  ),
  merchantRow(`DELETE ${SITE}/invoices`, 'of site 1', '204 204 403 403 404', async ({ partners, invoices }, caller) => {
    const { externalReference } = caller === undefined ? invoices.test : await partners.createInvoice();
    return { method: 'DELETE', path: `${partners.sitePath}/invoices?externalReference=${externalReference}` };
  }),
  merchantRow(`PUT ${SITE}/tills/:siteReference/code`, 'at site 1', '201 201 403 403 201', ({ partners }) => ({
    method: 'PUT',
    path: `${partners.sitePath}/tills/${randomUUID()}/code`,
  })),
  merchantRow(`GET ${SITE}/tills/:siteReference/code`, 'at site 1', '200 200 403 403 404', ({ partners }) =>
    get(`${partners.sitePath}/tills/TILL-1/code`),
  ),
];

/**
 * The three look-ups of a payment: by its invoice, by the merchant's reference of the invoice, and by its own
 * reference.
 */
const LOOK_UPS: readonly (readonly [endpoint: string, getPath: (payment: TestPayment) => string])[] = [
  ['/invoices/:invoiceId/payments', ({ request }) => `/invoices/${request.invoiceReference}/payments`],
  ['/payments', ({ externalReference }) => `/payments?externalReference=${externalReference}`],
  ['/payments/:svcId', ({ paymentReference }) => `/payments/${paymentReference}`],
];
const RETRIEVAL_ROWS: readonly PermissionRow[] = [MERCHANT, SITE].flatMap((owner) =>
  LOOK_UPS.flatMap(([endpoint, getPath]) =>
    (['test', 'live'] as const).map((mode) => {
      const statusForSite2 = owner === SITE ? '403' : '200:0';
      const statuses =
        mode === 'test' ? `200:1 200:1 ${statusForSite2} 403 200:0` : `200:0 200:0 ${statusForSite2} 403 200:1`;
      return merchantRow(
        `GET ${owner}${endpoint}`,
        `a ${mode} payment at site 1`,
        statuses,
        ({ partners, payments }) => {
          const path = owner === SITE ? partners.sitePath : partners.sitePath.replace(/\/sites\/.*/, '');
          return get(`${path}${getPath(payments.get(mode === 'live' ? 'A live' : 'A’s 1')!)}`);
        },
      );
    }),
  ),
);

const SEARCH_ROWS: readonly PermissionRow[] = (['test', 'live'] as const).map((mode) =>
  merchantRow(
    `GET ${MERCHANT}/payment-search`,
    `a ${mode} payment at site 1`,
    mode === 'test' ? '200:1 200:1 200:0 403 200:0' : '200:0 200:0 200:0 403 200:1',
    ({ partners, payments }) => {
      const { externalReference } = payments.get(mode === 'live' ? 'A live' : 'A’s 1')!;
      return get(`${partners.sitePath.replace(/\/sites\/.*/, '')}/payment-search?orderId=${externalReference}`);
    },
  ),
);

const REFUNDS = `${MERCHANT}/refunds`;
const listRefundsOf =
  (payer: Partner): NewRequest =>
  ({ partners, payments }) =>
    get(`${refundsPath(partners)}?svcId=${payments.get(payer)!.paymentReference}`);
/** Refunds one cent, with a new idempotency key for each request. */
const refundPaymentOf =
  (payer: Partner): NewRequest =>
  ({ partners, payments }) => ({
    ...post(`${refundsPath(partners)}?svcId=${payments.get(payer)!.paymentReference}`, { amount: 1 }),
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
  });
const refundsPath = ({ sitePath }: TwoPartners): string => `${sitePath.replace(/\/sites\/.*/, '')}/refunds`;
const REFUND_ROWS: readonly PermissionRow[] = [
  merchantRow(`GET ${REFUNDS}`, 'of a test payment at site 1', '200:0 200:0 404 403 404', listRefundsOf('A’s 1')),
  merchantRow(`GET ${REFUNDS}`, 'of a live payment at site 1', '404 404 404 403 200:0', listRefundsOf('A live')),
  merchantRow(`POST ${REFUNDS}`, 'of a test payment at site 1', '201 201 404 403 404', refundPaymentOf('A’s 1')),
  merchantRow(`POST ${REFUNDS}`, 'of a live payment at site 1', '404 404 404 403 201', refundPaymentOf('A live')),
];

const DISPUTES = `${MERCHANT}/disputes`;
const listDisputesOf =
  (payer: Partner): NewRequest =>
  ({ partners, payments }) =>
    get(`${refundsPath(partners).replace(/refunds$/, 'disputes')}?svcId=${payments.get(payer)!.paymentReference}`);
const DISPUTE_ROWS: readonly PermissionRow[] = [
  merchantRow(`GET ${DISPUTES}`, 'of a test payment at site 1', '200:0 200:0 404 403 404', listDisputesOf('A’s 1')),
  merchantRow(`GET ${DISPUTES}`, 'of a live payment at site 1', '404 404 404 403 200:0', listDisputesOf('A live')),
];

/**
 * Each key gets the settlements of its own merchant or site, in its mode. settlements.int-spec.ts tests their content.
 */
const SETTLEMENT_ROWS: readonly PermissionRow[] = [
  merchantRow(`GET ${MERCHANT}/settlements/:day`, 'of merchant 1', '200 200 200 403 200', ({ partners }) =>
    get(`${partners.sitePath.replace(/\/sites\/.*/, '')}/settlements/2026-03-01`),
  ),
  merchantRow(`GET ${MERCHANT}/settlements`, 'of site 1', '200 200 403 403 200', ({ partners }) =>
    get(`${partners.sitePath.replace(/\/sites\/(\d+).*/, '/settlements?from=2026-03-01&siteId=$1')}`),
  ),
];

const STREAM_ROWS: readonly PermissionRow[] = [
  merchantRow(`GET ${SITE}/payments/stream`, 'of site 1', '200 200 403 403 200', ({ partners }) =>
    get(`${partners.sitePath}/payments/stream`),
  ),
];

/** Pages of the bank's verification without their signature, and an acquirer without settings. */
const NOT_FOUND_ROWS = (
  [
    [VERIFICATION_START, 'GET'],
    [VERIFICATION_START, 'POST'],
    [ACQUIRER_REPORTS, 'POST'],
  ] as const
).map(([path, method]): PermissionRow => ({
  ...publicRow(`${method} ${path}`, '', () => ({ method, path })),
  statusForOthers: '404',
}));

const PUBLIC_ROWS: readonly PermissionRow[] = [
  publicRow('GET /v1/verifications/:paymentReference', 'a payment of A’s 1', ({ payments }) =>
    get(`/v1/verifications/${payments.get('A’s 1')!.paymentReference}`),
  ),
  ...NOT_FOUND_ROWS,
  publicRow('GET /.well-known/jwks.json', '', () => get('/.well-known/jwks.json')),
  publicRow('GET /errors', '', () => get('/errors')),
  publicRow('GET /errors/:code', 'a code', () => get('/errors/payable.paid')),
  publicRow('GET /reference', '', () => get('/reference')),
  publicRow('GET /reference/:file', '', () => get('/reference/partner.html')),
  publicRow('GET /health/live', '', () => get('/health/live')),
  publicRow('GET /health/ready', '', () => get('/health/ready')),
];

/**
 * Every endpoint of the main API, and the expected status for each caller. An endpoint without a row fails the test.
 */
export const ROWS: readonly PermissionRow[] = [
  ...PAYMENT_READ_ROWS,
  ...DECODE_ROWS,
  ...CARD_ROWS,
  ...PAYMENT_ROWS,
  ...AUTHENTICATION_ROWS,
  ...INVOICE_ROWS,
  ...RETRIEVAL_ROWS,
  ...SEARCH_ROWS,
  ...REFUND_ROWS,
  ...DISPUTE_ROWS,
  ...SETTLEMENT_ROWS,
  ...STREAM_ROWS,
  ...PUBLIC_ROWS,
];

/** Finds the column of a caller with this key and this token. Undefined for all other callers. */
export function findCaller(needs: RequiredCredentials, key: (typeof KEYS)[number], token: string): string | undefined {
  const columns = COLUMNS[needs];
  if (needs !== 'partner') return columns.find((column) => column === key);
  return PARTNERS.find((column) => column === token && findServerOf(column) === key);
}

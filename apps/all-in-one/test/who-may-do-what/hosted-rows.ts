import { randomUUID } from 'node:crypto';
import { newPaymentReference } from '@svc/kernel';
import {
  HOSTED_COLUMNS,
  type HostedCaller,
  newSessionRequest,
  type PaidSession,
  type TwoMerchants,
} from '../hosted-callers.js';
import type { ApiRequest } from '../main-api.js';

/** The sites, in one mode, that own the objects below. */
export const OWNERS = ['site 1', 'site 1 live', 'open site'] as const satisfies readonly HostedCaller[];
export type Owner = (typeof OWNERS)[number];

/** The objects that exist before the test calls the endpoints. */
export interface HostedTestData {
  readonly merchants: TwoMerchants;
  /** One paid session of each owner. */
  readonly paidSessions: ReadonlyMap<Owner, PaidSession>;
  /** Id of a webhook delivery of each owner. */
  readonly deliveries: ReadonlyMap<Owner, string>;
  /** Digits of the static code of a till without an invoice. */
  readonly idleTillCode: string;
  /** Digits of the static code of a till with an invoice to pay. */
  readonly busyTillCode: string;
  /** Digits of the code of an invoice of site 1, at the till with an invoice to pay, and the reference of the invoice. */
  readonly invoiceCode: string;
  readonly invoiceReference: string;
}

export interface HostedPermissionRow {
  /** Method and path as the controller declares them. */
  readonly endpoint: string;
  /** Description of the object that is requested. */
  readonly object: string;
  /**
   * The expected status for each column of HOSTED_COLUMNS, separated by blanks. `200:1` means 200 with
   * a list of one payment or notification. Undefined for an endpoint without credentials: all callers get
   * `statusForOthers`.
   */
  readonly statuses: string | undefined;
  /** The expected status for all other callers. */
  readonly statusForOthers: string;
  /** Creates the request of a caller. `caller` is undefined for a caller without valid credentials. */
  readonly newRequest: (data: HostedTestData, caller: HostedCaller | undefined) => ApiRequest | Promise<ApiRequest>;
}

type NewRequest = HostedPermissionRow['newRequest'];

const get = (path: string): ApiRequest => ({ method: 'GET', path });

/** The endpoints for merchants' servers, in both versions of the API. */
const MERCHANT_ROWS: readonly HostedPermissionRow[] = ['v3.1', 'v3'].flatMap((version) => {
  const api = `/api/${version}`;
  const row = (endpoint: string, object: string, statuses: string, newRequest: NewRequest): HostedPermissionRow => {
    const [method, path] = endpoint.split(' ');
    return { endpoint: `${method} ${api}${path}`, object, statuses, statusForOthers: '401', newRequest };
  };
  const createSession = (object: string, newRequest: NewRequest): HostedPermissionRow =>
    row('POST /sessions', object, '201 201 201 201 201 201 201 201 201', newRequest);
  const cancelSession = (owner: Owner, statuses: string): HostedPermissionRow =>
    row('DELETE /sessions/:sessionId', `of ${owner}`, statuses, async ({ merchants, paidSessions }, caller) => {
      const sessionId =
        caller === undefined ? paidSessions.get(owner)!.sessionId : await merchants.createSession(owner);
      return { method: 'DELETE', path: `${api}/sessions/${sessionId}` };
    });
  const getSession = (owner: Owner, statuses: string): HostedPermissionRow =>
    row('GET /sessions/:sessionId', `of ${owner}`, statuses, ({ paidSessions }) =>
      get(`${api}/sessions/${paidSessions.get(owner)!.sessionId}`),
    );
  const listPayments = (owner: Owner, statuses: string): HostedPermissionRow =>
    row('GET /payments', `of a session of ${owner}`, statuses, ({ paidSessions }) =>
      get(`${api}/payments?sessionId=${paidSessions.get(owner)!.sessionId}`),
    );
  const getPayment = (owner: Owner, statuses: string): HostedPermissionRow =>
    row('GET /payments/:paymentReference', `of ${owner}`, statuses, ({ paidSessions }) =>
      get(`${api}/payments/${paidSessions.get(owner)!.paymentReference}`),
    );
  const delivery = (method: 'GET' | 'POST', suffix: '' | '/resend', owner: Owner): HostedPermissionRow => {
    const ownStatus = method === 'GET' ? '200' : '202';
    const statuses = HOSTED_COLUMNS.map((caller) =>
      caller.endsWith('no key') ? '401' : caller === owner ? ownStatus : '404',
    );
    const newRequest: NewRequest = ({ merchants, deliveries }, caller) => {
      // A delivery can be resent only some seconds after its last attempt.
      if (caller === owner && method === 'POST') merchants.api.clock.advance(10_000);
      return { method, path: `${api}/deliveries/${deliveries.get(owner)!}${suffix}` };
    };
    return row(`${method} /deliveries/:id${suffix}`, `of ${owner}`, statuses.join(' '), newRequest);
  };
  const noneFound = '404 404 404 404 404 404 404 404 404';
  return [
    createSession('a new session', () => ({ method: 'POST', path: `${api}/sessions`, body: newSessionRequest() })),
    createSession('a repeated requestId of site 1', ({ paidSessions }) => ({
      method: 'POST',
      path: `${api}/sessions`,
      body: newSessionRequest(paidSessions.get('site 1')!.requestId),
    })),
    getSession('site 1', '200 404 404 404 404 404 404 404 404'),
    getSession('site 1 live', '404 200 404 404 404 404 404 404 404'),
    getSession('open site', '404 404 404 404 200 200 404 404 404'),
    cancelSession('site 1', '200 404 404 404 401 404 404 404 404'),
    cancelSession('site 1 live', '404 200 404 404 401 404 404 404 404'),
    cancelSession('open site', '404 404 404 404 401 200 404 404 404'),
    listPayments('site 1', '200:1 404 404 404 404 404 404 404 404'),
    listPayments('site 1 live', '404 200:1 404 404 404 404 404 404 404'),
    listPayments('open site', '404 404 404 404 200:1 200:1 404 404 404'),
    getPayment('site 1', '200 404 404 404 404 404 404 404 404'),
    getPayment('site 1 live', '404 200 404 404 404 404 404 404 404'),
    getPayment('open site', '404 404 404 404 200 200 404 404 404'),
    row('GET /payments/:paymentReference', 'an unknown payment', noneFound, ({ merchants }) =>
      get(`${api}/payments/${newPaymentReference(merchants.api.clock.now())}`),
    ),
    row('GET /deliveries', 'all', '200:1 200:1 200:0 200:0 401 200:1 200:0 200:0 200:0', () =>
      get(`${api}/deliveries`),
    ),
    ...OWNERS.flatMap((owner) => [delivery('GET', '', owner), delivery('POST', '/resend', owner)]),
    row('GET /notifications', 'all', '200:1 200:1 200:0 200:0 401 200:1 200:0 200:0 200:0', () =>
      get(`${api}/notifications`),
    ),
  ];
});

/** A row of an endpoint that needs no credentials. */
const publicRow = (endpoint: string, object: string, status: string, newRequest: NewRequest): HostedPermissionRow => ({
  endpoint,
  object,
  statuses: undefined,
  statusForOthers: status,
  newRequest,
});
/** Submits the payment form of a page. The card is not valid ciphertext. */
const newPayRequest = (pagePath: string, attempt = 1): ApiRequest => ({
  method: 'POST',
  path: `${pagePath}/payments`,
  body: { reference: randomUUID(), paymentNumber: attempt, encryptedCard: 'a.b.c' },
});

/** Submits the form of a receipt. The page of a session allows three, and then shows that the limit is reached. */
const newReceiptRequest = (pagePath: string): ApiRequest => ({
  method: 'POST',
  path: `${pagePath}/receipts`,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'email=thandi%40example.com',
});

const invoicePage = ({ invoiceCode }: HostedTestData): string => `/c/${invoiceCode}`;
const staticCodePage = ({ busyTillCode, invoiceReference }: HostedTestData): string =>
  `/c/${busyTillCode}/invoices/${invoiceReference}`;
const otherTillPage = ({ idleTillCode, invoiceReference }: HostedTestData): string =>
  `/c/${idleTillCode}/invoices/${invoiceReference}`;

/** The endpoints for payers. Every client that has the id or the code of a session may call them. */
const PAYER_ROWS: readonly HostedPermissionRow[] = [
  publicRow('GET /pay', 'a session of site 1', '200', ({ paidSessions }) =>
    get(`/pay?sessionId=${paidSessions.get('site 1')!.sessionId}`),
  ),
  publicRow('GET /pay', 'an unknown session', '404', () => get(`/pay?sessionId=${randomUUID()}`)),
  publicRow('GET /c/:code', 'a session of site 1', '200', ({ paidSessions }) =>
    get(`/c/${paidSessions.get('site 1')!.code}`),
  ),
  publicRow('GET /c/:code', 'an invoice of site 1', '200', ({ invoiceCode }) => get(`/c/${invoiceCode}`)),
  publicRow('GET /c/:code', 'a till of site 1', '200', ({ idleTillCode }) => get(`/c/${idleTillCode}`)),
  publicRow('GET /c/:code', 'a till of site 1 with an invoice', '303', ({ busyTillCode }) => get(`/c/${busyTillCode}`)),
  publicRow('GET /c/:code', 'an unknown code', '404', () => get(`/c/${'0'.repeat(20)}`)),
  ...(['pay/:sessionId', 'c/:code'] as const).flatMap((pagePattern) => {
    const sessionPage = ({ paidSessions }: HostedTestData): string => {
      const { sessionId, code } = paidSessions.get('site 1')!;
      return pagePattern === 'c/:code' ? `/c/${code}` : `/pay/${sessionId}`;
    };
    const pages: [object: string, pagePath: (data: HostedTestData) => string][] = [
      ['a session of site 1', sessionPage],
      ...(pagePattern === 'c/:code' ? [['an invoice of site 1', invoicePage] as [string, typeof invoicePage]] : []),
    ];
    const rowsForPages = (
      method: string,
      name: string,
      status: string,
      newRequest: (pagePath: string) => ApiRequest,
    ): HostedPermissionRow[] =>
      pages.map(([object, pagePath]) =>
        publicRow(`${method} /${pagePattern}/${name}`, object, status, (data) => newRequest(pagePath(data))),
      );
    return [
      ...rowsForPages('GET', 'state', '200', (pagePath) => get(`${pagePath}/state`)),
      ...rowsForPages('GET', 'events', '200', (pagePath) => get(`${pagePath}/events`)),
      // The session is paid, so its expiry does not change. The page of an invoice has no endpoint to extend it.
      publicRow(`POST /${pagePattern}/more-time`, 'a session of site 1', '200', (data) => ({
        method: 'POST',
        path: `${sessionPage(data)}/more-time`,
      })),
      ...rowsForPages('POST', 'challenges', '200', (pagePath) => ({ method: 'POST', path: `${pagePath}/challenges` })),
      // The card cannot be decrypted, so every caller gets the same error.
      ...rowsForPages('POST', 'payments', '400', (pagePath) => newPayRequest(pagePath)),
    ];
  }),
  publicRow('POST /c/:code/payments', 'a till of site 1', '404', ({ idleTillCode }) =>
    newPayRequest(`/c/${idleTillCode}`),
  ),
  publicRow('POST /pay/:sessionId/receipts', 'a paid session of site 1', '303', ({ paidSessions }) =>
    newReceiptRequest(`/pay/${paidSessions.get('site 1')!.sessionId}`),
  ),
  publicRow('POST /c/:code/receipts', 'a paid session of site 1', '303', ({ paidSessions }) =>
    newReceiptRequest(`/c/${paidSessions.get('site 1')!.code}`),
  ),
  // Only the page of its payer shows the receipt of an invoice.
  publicRow('POST /c/:code/receipts', 'an invoice of site 1', '404', (data) => newReceiptRequest(invoicePage(data))),
  ...(['', '/state', '/events'] as const).flatMap((call) => {
    const endpoint = `GET /c/:code/invoices/:invoiceReference${call}`;
    return [
      publicRow(endpoint, 'an invoice of the till', '200', (data) => get(`${staticCodePage(data)}${call}`)),
      publicRow(endpoint, 'an invoice of another till', '404', (data) => get(`${otherTillPage(data)}${call}`)),
    ];
  }),
  publicRow('POST /c/:code/invoices/:invoiceReference/challenges', 'an invoice of the till', '200', (data) => ({
    method: 'POST',
    path: `${staticCodePage(data)}/challenges`,
  })),
  publicRow('POST /c/:code/invoices/:invoiceReference/challenges', 'an invoice of another till', '404', (data) => ({
    method: 'POST',
    path: `${otherTillPage(data)}/challenges`,
  })),
  publicRow('POST /c/:code/invoices/:invoiceReference/payments', 'an invoice of the till', '400', (data) =>
    newPayRequest(staticCodePage(data)),
  ),
  publicRow('POST /c/:code/invoices/:invoiceReference/payments', 'an invoice of another till', '404', (data) =>
    newPayRequest(otherTillPage(data)),
  ),
  publicRow('POST /c/:code/invoices/:invoiceReference/receipts', 'an invoice of the till', '404', (data) =>
    newReceiptRequest(staticCodePage(data)),
  ),
  publicRow('GET /c/*', 'a code with a slash at its end', '303', (data) => get(`${invoicePage(data)}/`)),
  publicRow('GET /c/*', 'no code', '404', () => get('/c/x/y')),
  publicRow('GET /C/*', 'a code', '303', (data) => get(invoicePage(data).toUpperCase())),
  publicRow('GET /looks/:file', 'an unknown logo', '404', () => get(`/looks/${'0'.repeat(32)}.png`)),
  publicRow('POST /pay/csp-reports', 'a report of a browser', '204', () => ({
    method: 'POST',
    path: '/pay/csp-reports',
    headers: { 'content-type': 'application/csp-report' },
    body: { 'csp-report': {} },
  })),
  publicRow('GET /errors', '', '200', () => get('/errors')),
  publicRow('GET /errors/:code', 'a code', '200', () => get('/errors/payable.paid')),
  publicRow('GET /health/live', '', '200', () => get('/health/live')),
  publicRow('GET /health/ready', '', '200', () => get('/health/ready')),
];

/**
 * Every endpoint of the hosted gateway, and the expected status for each caller. An endpoint without a row fails the
 * test.
 */
export const HOSTED_ROWS: readonly HostedPermissionRow[] = [...MERCHANT_ROWS, ...PAYER_ROWS];

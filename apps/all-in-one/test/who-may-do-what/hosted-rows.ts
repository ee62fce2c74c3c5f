import { randomUUID } from 'node:crypto';
import { newPaymentReference } from '@svc/kernel';
import { aSession, HOSTED_COLUMNS, type HostedCaller, type PaidSession, type TwoMerchants } from '../hosted-callers.js';
import type { Call } from '../main-api.js';

/** The owners of the existing objects. */
export const OWNERS = ['site 1', 'site 1 live', 'open site'] as const satisfies readonly HostedCaller[];
export type Owner = (typeof OWNERS)[number];

export interface HostedObjects {
  readonly two: TwoMerchants;
  /** One paid session of each owner. */
  readonly paid: ReadonlyMap<Owner, PaidSession>;
  /** Id of a webhook delivery of each owner. */
  readonly deliveries: ReadonlyMap<Owner, string>;
  /** Digits of the static codes of two tills; the second till has an invoice to pay. */
  readonly tillCode: string;
  readonly busyTillCode: string;
  /** Digits of the code of an invoice of site 1. */
  readonly invoiceCode: string;
}

export interface HostedRow {
  /** As declared by the controller. */
  readonly endpoint: string;
  readonly object: string;
  /** The status for each column; `200:1` if one payment or notification is listed. Undefined: the same for every caller. */
  readonly answers: string | undefined;
  /** The status for all other callers. */
  readonly others: string;
  /** Called for each authenticated caller. */
  readonly call: (objects: HostedObjects, caller: HostedCaller | undefined) => Call | Promise<Call>;
}

const get = (path: string): Call => ({ method: 'GET', path });

/** The same in both versions of the API. */
const VERSIONED: readonly HostedRow[] = ['v3.1', 'v3'].flatMap((version) => {
  const api = `/api/${version}`;
  const row = (endpoint: string, object: string, answers: string, call: HostedRow['call']): HostedRow => {
    const [method, path] = endpoint.split(' ');
    return { endpoint: `${method} ${api}${path}`, object, answers, others: '401', call };
  };
  const create = (object: string, call: HostedRow['call']): HostedRow =>
    row('POST /sessions', object, '201 201 201 201 201 201 201 201 201', call);
  const cancel = (owner: Owner, answers: string): HostedRow =>
    row('DELETE /sessions/:sessionId', `of ${owner}`, answers, async ({ two, paid }, caller) => {
      const sessionId = caller === undefined ? paid.get(owner)!.sessionId : await two.newSession(owner);
      return { method: 'DELETE', path: `${api}/sessions/${sessionId}` };
    });
  const read = (owner: Owner, answers: string): HostedRow =>
    row('GET /sessions/:sessionId', `of ${owner}`, answers, ({ paid }) =>
      get(`${api}/sessions/${paid.get(owner)!.sessionId}`),
    );
  const list = (owner: Owner, answers: string): HostedRow =>
    row('GET /payments', `of a session of ${owner}`, answers, ({ paid }) =>
      get(`${api}/payments?sessionId=${paid.get(owner)!.sessionId}`),
    );
  const one = (owner: Owner, answers: string): HostedRow =>
    row('GET /payments/:paymentReference', `of ${owner}`, answers, ({ paid }) =>
      get(`${api}/payments/${paid.get(owner)!.paymentReference}`),
    );
  const delivery = (method: 'GET' | 'POST', suffix: '' | '/resend', owner: Owner): HostedRow => {
    const own = method === 'GET' ? '200' : '202';
    const answers = HOSTED_COLUMNS.map((one) => (one.endsWith('no key') ? '401' : one === owner ? own : '404'));
    const call: HostedRow['call'] = ({ two, deliveries }, caller) => {
      // Consecutive resends need a minimum interval.
      if (caller === owner && method === 'POST') two.api.clock.advance(10_000);
      return { method, path: `${api}/deliveries/${deliveries.get(owner)!}${suffix}` };
    };
    return row(`${method} /deliveries/:id${suffix}`, `of ${owner}`, answers.join(' '), call);
  };
  const none = '404 404 404 404 404 404 404 404 404';
  return [
    create('a new one', () => ({ method: 'POST', path: `${api}/sessions`, body: aSession() })),
    create('the requestId of site 1', ({ paid }) => ({
      method: 'POST',
      path: `${api}/sessions`,
      body: aSession(paid.get('site 1')!.requestId),
    })),
    read('site 1', '200 404 404 404 404 404 404 404 404'),
    read('site 1 live', '404 200 404 404 404 404 404 404 404'),
    read('open site', '404 404 404 404 200 200 404 404 404'),
    cancel('site 1', '200 404 404 404 401 404 404 404 404'),
    cancel('site 1 live', '404 200 404 404 401 404 404 404 404'),
    cancel('open site', '404 404 404 404 401 200 404 404 404'),
    list('site 1', '200:1 404 404 404 404 404 404 404 404'),
    list('site 1 live', '404 200:1 404 404 404 404 404 404 404'),
    list('open site', '404 404 404 404 200:1 200:1 404 404 404'),
    one('site 1', '200 404 404 404 404 404 404 404 404'),
    one('site 1 live', '404 200 404 404 404 404 404 404 404'),
    one('open site', '404 404 404 404 200 200 404 404 404'),
    row('GET /payments/:paymentReference', 'an unknown one', none, ({ two }) =>
      get(`${api}/payments/${newPaymentReference(two.api.clock.now())}`),
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

const open = (endpoint: string, object: string, status: string, call: HostedRow['call']): HostedRow => ({
  ...{ endpoint, object, call },
  ...{ answers: undefined, others: status },
});
const pressing = (address: string): Call => ({
  method: 'POST',
  path: `${address}/payments`,
  body: { reference: randomUUID(), try: 2, encryptedCard: 'a.b.c' },
});

const invoice = ({ invoiceCode }: HostedObjects): string => `/c/${invoiceCode}`;

/** For payers: every client that knows the id of a session, or its code. */
const PAYERS: readonly HostedRow[] = [
  open('GET /pay', 'a session of site 1', '200', ({ paid }) => get(`/pay?sessionId=${paid.get('site 1')!.sessionId}`)),
  open('GET /pay', 'an unknown session', '404', () => get(`/pay?sessionId=${randomUUID()}`)),
  open('GET /c/:code', 'a session of site 1', '200', ({ paid }) => get(`/c/${paid.get('site 1')!.code}`)),
  open('GET /c/:code', 'an invoice of site 1', '200', ({ invoiceCode }) => get(`/c/${invoiceCode}`)),
  open('GET /c/:code', 'a till of site 1', '200', ({ tillCode }) => get(`/c/${tillCode}`)),
  open('GET /c/:code', 'a till of site 1 with an invoice', '303', ({ busyTillCode }) => get(`/c/${busyTillCode}`)),
  open('GET /c/:code', 'an unknown code', '404', () => get(`/c/${'0'.repeat(20)}`)),
  ...(['pay/:sessionId', 'c/:code'] as const).flatMap((address) => {
    const session = ({ paid }: HostedObjects): string => {
      const { sessionId, code } = paid.get('site 1')!;
      return address === 'c/:code' ? `/c/${code}` : `/pay/${sessionId}`;
    };
    const things: [string, (objects: HostedObjects) => string][] = [
      ['a session of site 1', session],
      ...(address === 'c/:code' ? [['an invoice of site 1', invoice] as [string, typeof invoice]] : []),
    ];
    const each = (method: string, what: string, status: string, call: (at: string) => Call): HostedRow[] =>
      things.map(([object, at]) =>
        open(`${method} /${address}/${what}`, object, status, (objects) => call(at(objects))),
      );
    return [
      ...each('GET', 'state', '200', (at) => get(`${at}/state`)),
      ...each('GET', 'events', '200', (at) => get(`${at}/events`)),
      // A paid session cannot be extended. An invoice of a till has its own expiry.
      open(`POST /${address}/more-time`, 'a session of site 1', '200', (objects) => ({
        method: 'POST',
        path: `${session(objects)}/more-time`,
      })),
      // The card cannot be decrypted, so every caller gets the same error.
      ...each('POST', 'payments', '400', pressing),
    ];
  }),
  open('POST /c/:code/payments', 'a till of site 1', '404', ({ tillCode }) => pressing(`/c/${tillCode}`)),
  open('POST /pay/csp-reports', 'a report of a browser', '204', () => ({
    method: 'POST',
    path: '/pay/csp-reports',
    headers: { 'content-type': 'application/csp-report' },
    body: { 'csp-report': {} },
  })),
  open('GET /errors', '', '200', () => get('/errors')),
  open('GET /errors/:code', 'a code', '200', () => get('/errors/payable.paid')),
  open('GET /health/live', '', '200', () => get('/health/live')),
  open('GET /health/ready', '', '200', () => get('/health/ready')),
];

/** Every endpoint of the hosted gateway, and the expected status for each caller. An endpoint without a row fails the test. */
export const HOSTED_ROWS: readonly HostedRow[] = [...VERSIONED, ...PAYERS];

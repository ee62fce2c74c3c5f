import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import {
  type CommandType,
  CountUndeliveredV1,
  MerchantChangedV1,
  type PaymentSnapshot,
  type PersonSession,
  ReadPersonSessionV1,
  type Role,
  type RoleGrant,
  SiteChangedV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import type { ReplyEnvelope } from '@svc/messaging';
import { anAnonymousPayment, anEvent, paymentEvent, startTestService, type TestService } from '@svc/testing';
import { consoleService } from '../src/index.js';
import { createCsrfToken } from '../src/viewer/viewer.js';

export const CONSOLE_URL = 'http://localhost:7307';

export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly html: string;
  /** The visible text, with single spaces. */
  readonly text: string;
}

/** A browser with the session of a person. */
export interface Browser {
  readonly person: PersonSession;
  get(path: string, headers?: Record<string, string>): Promise<Page>;
  /** Sends a form of a page, as the browser does. */
  post(path: string, form?: Record<string, string>, headers?: Record<string, string>): Promise<Page>;
  /** Sends a form with files. */
  upload(path: string, form?: Record<string, string | File>, headers?: Record<string, string>): Promise<Page>;
}

export interface TestConsole extends TestService {
  /** A person who is signed in with these roles. */
  signIn(roles: readonly RoleGrant[], changes?: Partial<PersonSession>): Browser;
  /** A browser without a session. */
  anonymous(): Browser;
  respondTo<Request>(
    command: CommandType<Request, unknown>,
    createReply: (request: Request) => ReplyEnvelope,
  ): Promise<void>;
}

export const CODES_URL = 'https://pay.svc.example';

export async function startConsole(
  url = CONSOLE_URL,
  env: Readonly<Record<string, string>> = {},
): Promise<TestConsole> {
  const test = await startTestService(consoleService, {
    env: {
      SVC_ADMIN_KEY: 'an administration key for tests 1',
      SVC_CONSOLE_URL: url,
      SVC_CODES_URL: CODES_URL,
      ...env,
    },
  });
  const sessions = new Map<string, PersonSession>();
  const responders = new Map<string, { close(): Promise<void> }>();
  const respondTo: TestConsole['respondTo'] = async ({ name }, createReply) => {
    await responders.get(name)?.close();
    const respond = (request: unknown): Promise<ReplyEnvelope> => Promise.resolve(createReply(request as never));
    responders.set(name, await test.broker.respond(name, respond));
  };
  await respondTo(ReadPersonSessionV1, ({ sessionHash }) => {
    const session = sessions.get(sessionHash);
    return { ok: true, reply: session ? { session } : {} };
  });
  await respondTo(CountUndeliveredV1, () => ({ ok: true, reply: { counts: [] } }));
  const openBrowser = (person: PersonSession, token: string | undefined): Browser => {
    const send = async (
      method: 'GET' | 'POST',
      url: string,
      headers: Record<string, string>,
      payload?: string | Buffer,
    ): Promise<Page> => {
      const cookie = token === undefined ? {} : { cookie: `svc-console-session=${token}` };
      const response = await test.service.app.inject({
        method,
        url,
        headers: { ...cookie, ...headers },
        ...(payload === undefined ? {} : { payload }),
      });
      return {
        status: response.statusCode,
        headers: response.headers,
        html: response.body,
        text: readText(response.body),
      };
    };
    return {
      person,
      get: (path, headers = {}) => send('GET', path, headers),
      post: (path, form = {}, headers = {}) => {
        const csrf = token === undefined ? {} : { csrf: createCsrfToken(token) };
        return send(
          'POST',
          path,
          { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
          new URLSearchParams({ ...csrf, ...form }).toString(),
        );
      },
      upload: async (path, form = {}, headers = {}) => {
        const data = new FormData();
        if (token !== undefined) data.set('csrf', createCsrfToken(token));
        for (const [name, value] of Object.entries(form)) data.set(name, value);
        const body = new Response(data);
        const contentType = body.headers.get('content-type')!;
        return send(
          'POST',
          path,
          { 'content-type': contentType, 'sec-fetch-site': 'same-origin', ...headers },
          Buffer.from(await body.arrayBuffer()),
        );
      },
    };
  };
  return {
    ...test,
    respondTo,
    anonymous: () => openBrowser(newPerson([]), undefined),
    signIn: (roles, changes = {}) => {
      const token = randomBytes(32).toString('base64url');
      const authenticatedUTCDate = test.clock.nowISO();
      const person = { ...newPerson(roles), authenticatedUTCDate, ...changes };
      sessions.set(createHash('sha256').update(token).digest('hex'), person);
      return openBrowser(person, token);
    },
  };
}

function newPerson(roles: readonly RoleGrant[]): PersonSession {
  return {
    sessionId: randomUUID(),
    personId: randomUUID(),
    name: 'Lindiwe Dube',
    email: 'lindiwe@example.com',
    roles: [...roles],
    secondFactors: ['totp'],
    setUpRequired: false,
    authenticatedUTCDate: '2026-03-01T09:00:00.000Z',
    startedUTCDate: '2026-03-01T09:00:00.000Z',
    expiresUTCDate: '2036-03-01T21:00:00.000Z',
  };
}

export interface TestMerchant {
  readonly merchantId: number;
  readonly sites: readonly [number, number];
  grant(role: Role, siteId?: number): RoleGrant;
}

let lastId = randomInt(1_000_000);

/** A merchant with two sites in Johannesburg. */
export async function createMerchant(app: TestConsole, zone = 'Africa/Johannesburg'): Promise<TestMerchant> {
  const merchantId = 1_000_000 + ++lastId;
  const sites = [5_000_000 + ++lastId, 5_000_000 + ++lastId] as const;
  await app.deliver(
    anEvent(MerchantChangedV1, String(merchantId), 1, {
      merchantId,
      name: 'Karoo Books',
      features: {},
      minimumAmount: 100,
      grants: [],
      fees: {},
      timeZones: [{ zone }],
    }),
    ...sites.map((siteId, index) =>
      anEvent(SiteChangedV1, String(siteId), 1, {
        merchantId,
        siteId,
        merchantName: 'Karoo Books',
        siteReference: `SITE-${index + 1}`,
        name: `Shop ${index + 1}`,
        requireApiKey: true,
        allowedHosts: [],
        keylessMode: 'test' as const,
        webhookEnabled: false,
        challengePayers: false,
      }),
    ),
  );
  const grant = (role: Role, siteId?: number): RoleGrant => ({
    merchantId,
    role,
    ...(siteId === undefined ? {} : { siteId }),
  });
  return { merchantId, sites, grant };
}

/** A payment of R 123.45 on the page, at this time, by default at the first site. */
export function newPayment(
  { merchantId, sites }: TestMerchant,
  at: Date,
  changes: Partial<PaymentSnapshot> = {},
): PaymentSnapshot {
  const utcDate = at.toISOString();
  return {
    ...anAnonymousPayment(),
    paymentReference: newPaymentReference(at),
    paymentUTCDate: utcDate,
    modifiedUTCDate: utcDate,
    merchantId,
    siteId: sites[0],
    siteReference: 'SITE-1',
    tipAmount: 0,
    processedAmount: 12_345,
    ...changes,
  };
}

/** A payment of a session with this order number. */
export function withOrder(payment: PaymentSnapshot, merchantOrderId: string): PaymentSnapshot {
  return payment.source.kind === 'session' ? { ...payment, source: { ...payment.source, merchantOrderId } } : payment;
}

export async function store(app: TestConsole, ...payments: PaymentSnapshot[]): Promise<void> {
  await app.deliver(...payments.map((payment) => paymentEvent(payment, 2)));
}

function readText(html: string): string {
  return html
    .replace(/<(head|script|style)\b[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
    .replaceAll(/[\s\u00a0]+/g, ' ')
    .trim();
}

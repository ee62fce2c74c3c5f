/** What somebody is told who makes a mistake that everybody makes once: whole messages, each of which says what to do. */
import { randomUUID } from 'node:crypto';
import {
  type CreateSessionRequest,
  HostedGatewayClient,
  type HostedGatewayClientOptions,
  signTestWebhook,
  verifyWebhook,
} from '@svc/sdk';
import { encrypt } from '../test/bank-and-platform.js';
import { aSession, TwoMerchants } from '../test/hosted-callers.js';
import { type MainApi, startMainApi } from '../test/main-api.js';

let api: MainApi;
let two: TwoMerchants;
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  two = await TwoMerchants.onboard(api);
});
afterAll(() => api?.stop());

const GATEWAY = 'https://pay.example';
/** The gateway's host and the main API's lead to the listeners; no other name leads anywhere. */
const fetchOf: typeof globalThis.fetch = async (address, init) => {
  const url = new URL(address as string);
  const call = url.host === 'api.example' ? api.call : api.callHosted;
  const { method = 'GET', headers, body } = init ?? {};
  const answer = await call({
    method,
    path: `${url.pathname}${url.search}`,
    headers: headers as Record<string, string>,
    ...(typeof body === 'string' ? { body } : {}),
  });
  return new Response(answer.text, { status: answer.status, headers: answer.headers });
};

function clientOf(change: Partial<HostedGatewayClientOptions> = {}): HostedGatewayClient {
  const { merchantId, siteId } = two.numbers.get('site 1')!;
  const apiKey = two.keys.get('site 1')!;
  return new HostedGatewayClient({ gatewayUrl: GATEWAY, merchantId, siteId, apiKey, fetch: fetchOf, ...change });
}
const create = (change: Record<string, unknown> = {}, client = clientOf()): Promise<unknown> =>
  client.createSession({ ...aSession(), ...change } as unknown as CreateSessionRequest);
const withKey = (apiKey: string) => (): Promise<unknown> => create({}, clientOf({ apiKey }));

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const SIGNED_AT = new Date('2026-03-01T10:00:00.000Z');
type Received = Parameters<typeof verifyWebhook>[0];
const verifying = (change: (signed: Received) => Partial<Received>) => (): Promise<unknown> => {
  const { headers, rawBody } = signTestWebhook({ secret: SECRET, signedAt: SIGNED_AT });
  const signed: Received = { headers, rawBody, secret: SECRET, now: SIGNED_AT };
  return Promise.resolve().then(() => verifyWebhook({ ...signed, ...change(signed) }));
};

async function payExpired(): Promise<void> {
  const { sessionId } = await clientOf().createSession(aSession() as unknown as CreateSessionRequest);
  const { text: page } = await api.callHosted({ method: 'GET', path: `/pay?sessionId=${sessionId}` });
  const body = { reference: randomUUID(), try: 1, encryptedCard: await encrypt(page, sessionId, 1) };
  api.clock.advance(30 * 60_000);
  const { status, text } = await api.callHosted({ method: 'POST', path: `/pay/${sessionId}/payments`, body });
  throw new Error(`${status}: ${(JSON.parse(text) as { errors: { message: string }[] }).errors[0]!.message}`);
}

/** An invoice lives an hour. */
async function readExpired(): Promise<void> {
  const { merchantId, siteId } = two.numbers.get('site 1')!;
  const { reference } = await two.newInvoice();
  api.clock.advance(60 * 60_000);
  const { status, text } = await api.call({
    method: 'GET',
    path: `/business/api/v1/merchants/${merchantId}/sites/${siteId}/invoices/${reference}`,
    headers: { 'x-api-key': two.keys.get('site 1')! },
  });
  const { errors, type } = JSON.parse(text) as { errors: { message: string }[]; type: string };
  throw new Error(`${status}: ${errors[0]!.message} (see ${type})`);
}

/** Twice under one requestId, with another amount. */
async function reuse(): Promise<void> {
  const requestId = randomUUID();
  await create({ requestId });
  await create({ requestId, amount: 1 });
}

/** A live key where only test payments were meant, and the reverse: nothing of the other mode is found. */
async function otherMode(): Promise<void> {
  const { sessionId } = await clientOf().createSession(aSession() as unknown as CreateSessionRequest);
  await clientOf({ apiKey: two.keys.get('site 1 live')! }).getSession(sessionId);
}

const see = (code: string): string => ` (see ${GATEWAY}/errors/${code})`;
const INVALID = see('request.invalid');
const UNAUTHORIZED = see('credentials.invalid');
const KEY_FORM = 'one of a site or a merchant is svc_test_site_ or svc_live_site_ and 43 more characters.';

const MISTAKES: [mistake: string, make: () => Promise<unknown>, message: string][] = [
  [
    'a wrong key',
    withKey(`svc_test_site_${'A'.repeat(43)}`),
    `401: x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.${UNAUTHORIZED}`,
  ],
  ['a key that is cut off', withKey('svc_test_site_abc'), `401: x-api-key has no key: ${KEY_FORM}${UNAUTHORIZED}`],
  [
    'no key',
    () => create({}, clientOf({ apiKey: undefined as never })),
    `401: There is no such site, or it needs its key in the header x-api-key.${UNAUTHORIZED}`,
  ],
  ['an empty key', withKey(''), 'apiKey is missing: is the setting that it comes from set?'],
  [
    'the webhook secret for the key',
    withKey(SECRET),
    `401: x-api-key has a webhook secret: send the API key.${UNAUTHORIZED}`,
  ],
  [
    'the key of a partner',
    () => withKey(two.keys.get('a partner')!)(),
    `401: x-api-key has the key of a partner: send one of a site or a merchant.${UNAUTHORIZED}`,
  ],
  [
    'the live key for what a test key made',
    otherMode,
    `404: There is no such session of this merchant, site and mode (test or live).${see('resource.not-found')}`,
  ],
  [
    'an amount as text',
    () => create({ amount: '12345' }),
    `400: amount must be a whole number of cents from 1 to 100000000000: send a number, not text${INVALID}`,
  ],
  [
    'an amount as a fraction',
    () => create({ amount: 123.45 }),
    `400: amount must be a whole number of cents from 1 to 100000000000: R 12.34 is 1234${INVALID}`,
  ],
  ['a missing field', () => create({ merchantOrderId: undefined }), `400: merchantOrderId is required${INVALID}`],
  [
    'an object for a list',
    () => create({ customFields: { key: 'Book', value: 'A' } }),
    `400: customFields must be an array${INVALID}`,
  ],
  [
    'a list of text for a list of objects',
    () => create({ customFields: ['Book'] }),
    `400: each value in customFields must be an object${INVALID}`,
  ],
  [
    'a notification address that is http',
    () => create({ notificationUrl: 'http://shop.example/hook' }),
    `400: notificationUrl must be https (http only to loopback)${INVALID}`,
  ],
  [
    'a notification address that is private',
    () => create({ notificationUrl: 'https://192.168.1.5/hook' }),
    `400: notificationUrl must be an address on the internet: nothing is sent to this one (private)${INVALID}`,
  ],
  [
    'a requestId that was used',
    reuse,
    `409: requestId was used before with different content. Send the same content, or another requestId.${see('request.idempotency-conflict')}`,
  ],
  [
    'a page whose session has expired',
    payExpired,
    '400: The card was encrypted for another page. Reload the page and try again.',
  ],
  [
    'an invoice that has expired',
    readExpired,
    '410: This can no longer be paid: it has expired. (see /errors/payable.expired)',
  ],
  [
    'a body that was parsed',
    verifying(({ rawBody }) => ({ rawBody: JSON.parse(rawBody as string) as string })),
    'rawBody must be the bytes as received, not a parsed object: read the body before any JSON parser does',
  ],
  [
    'a body that was parsed and written again',
    verifying(({ rawBody }) => ({ rawBody: JSON.stringify(JSON.parse(rawBody as string), null, 1) })),
    'No signature matches the body and the secret. Pass the body as it was received, before any JSON parser, and the secret of the site and mode',
  ],
  [
    'a clock that is ten minutes fast',
    verifying(() => ({ now: new Date(SIGNED_AT.getTime() + 600_000) })),
    'The webhook was signed too long ago: 600 s from the present time, of which 300 s are accepted. Is the clock of this server right?',
  ],
  [
    'a clock that is ten minutes slow',
    verifying(() => ({ now: new Date(SIGNED_AT.getTime() - 600_000) })),
    'The webhook was signed in the future: 600 s from the present time, of which 300 s are accepted. Is the clock of this server right?',
  ],
  [
    'a secret that is no base64',
    verifying(() => ({ secret: 'whsec_%' })),
    'A webhook secret is not whsec_ and base64: copy it whole, as it was shown when it was made',
  ],
  [
    'no secret',
    verifying(() => ({ secret: undefined as never })),
    'No webhook secret was given: is the setting that it comes from set?',
  ],
  [
    'the address of the main API for the gateway',
    () => create({}, clientOf({ gatewayUrl: 'https://api.example' })),
    '404: https://api.example has no such address: is it the one that this client was to be given (gatewayUrl or apiUrl)? (see https://api.example/errors/resource.not-found)',
  ],
  [
    'an address without https',
    () => create({}, clientOf({ gatewayUrl: 'pay.example' })),
    'gatewayUrl must be an http(s) address, as in https://pay.example.com',
  ],
  [
    'an address where nothing listens',
    () =>
      create(
        {},
        clientOf({ gatewayUrl: 'http://127.0.0.1:59', fetch: globalThis.fetch, wait: () => Promise.resolve() }),
      ),
    'No answer: http://127.0.0.1:59: connect ECONNREFUSED 127.0.0.1:59. Is this the right address?',
  ],
];

test.each(MISTAKES)('%s', async (_, make, message) => {
  const error = await Promise.resolve()
    .then(make)
    .catch((thrown: unknown) => thrown);
  expect((error as Error).message).toBe(message);
});

test('a requestId whose session has expired: the session says so', async () => {
  const session = aSession() as unknown as CreateSessionRequest;
  expect(await clientOf().createSession(session)).toMatchObject({ state: 'open', replayed: false });
  api.clock.advance(30 * 60_000);
  expect(await clientOf().createSession(session)).toMatchObject({ state: 'expired', replayed: true });
});

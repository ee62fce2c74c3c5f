/** The full messages of the SDK after common mistakes; each must explain how to fix it. */
import { randomUUID } from 'node:crypto';
import { HostedGatewayClient, type HostedGatewayClientOptions, signTestWebhook, verifyWebhook } from '@svc/sdk';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
});

function clientOf(change: Partial<HostedGatewayClientOptions> = {}): HostedGatewayClient {
  const { merchant, siteId, apiKey } = platform.site(0, 0);
  const { merchantId } = merchant;
  return new HostedGatewayClient({ gatewayUrl: platform.demo.gatewayUrl, merchantId, siteId, apiKey, ...change });
}

const create = (change: Record<string, unknown> = {}, client = clientOf()): Promise<unknown> =>
  client.createSession({
    requestId: randomUUID(),
    merchantOrderId: 'order-17',
    amount: 12_345,
    currencyISOCode: 'ZAR',
    notificationUrl: 'https://shop.example/hook',
    returnUrl: 'https://shop.example/return',
    cancelUrl: 'https://shop.example/cart',
    origin: 'shop.example',
    ...change,
  });
const withKey = (apiKey: string) => (): Promise<unknown> => create({}, clientOf({ apiKey }));

/** Uses one requestId for two sessions with different amounts. */
async function reuse(): Promise<void> {
  const requestId = randomUUID();
  await create({ requestId });
  await create({ requestId, amount: 1 });
}

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const SIGNED_AT = new Date('2026-03-01T10:00:00.000Z');
type Received = Parameters<typeof verifyWebhook>[0];
const verifying = (change: (signed: Received) => Partial<Received>) => (): Promise<unknown> => {
  const { headers, rawBody } = signTestWebhook({ secret: SECRET, signedAt: SIGNED_AT });
  const signed: Received = { headers, rawBody, secret: SECRET, now: SIGNED_AT };
  return Promise.resolve().then(() => verifyWebhook({ ...signed, ...change(signed) }));
};

const see = (code: string): string => ` (see {api}/errors/${code})`;
const INVALID = see('request.invalid');
const UNAUTHORIZED = see('credentials.invalid');
const KEY_FORM = 'one of a site or a merchant is svc_test_site_ or svc_live_site_ and 43 more characters.';

/** `{api}` is the address of the main API. */
const MISTAKES: [mistake: string, make: () => Promise<unknown>, message: string][] = [
  [
    'a wrong key',
    withKey(`svc_test_site_${'A'.repeat(43)}`),
    `401: x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.${UNAUTHORIZED}`,
  ],
  [
    'a key that is cut off',
    withKey('svc_test_site_abc'),
    `401: x-api-key has no key: ${KEY_FORM}${see('credentials.key-malformed')}`,
  ],
  [
    'no key',
    () => create({}, clientOf({ apiKey: undefined as never })),
    `401: There is no such site, or it needs its key in the header x-api-key.${see('credentials.key-missing')}`,
  ],
  ['an empty key', withKey(''), 'apiKey is missing: check the setting that it comes from'],
  [
    'the webhook secret for the key',
    withKey(SECRET),
    `401: x-api-key has a webhook secret: send the API key.${see('credentials.key-malformed')}`,
  ],
  [
    'the key of a partner',
    () => withKey(platform.demo.partner.apiKey)(),
    `401: x-api-key has the key of a partner: send one of a site or a merchant.${see('credentials.merchant-key-needed')}`,
  ],
  [
    'the id of another site',
    () => create({}, clientOf({ siteId: 9999 })),
    `401: This key is not of site 9999: send the merchantSiteId of the key, or a key of that site.${UNAUTHORIZED}`,
  ],
  [
    'a field with another name',
    () => create({ merchantOrderId: undefined, orderId: '17' }),
    `400: merchantOrderId is required: rename orderId to merchantOrderId${INVALID}`,
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
    'The webhook was signed too long ago: 600 s from the present time, of which 300 s are accepted. Its signature is right: either the clock of this server is ahead by this difference, or an old request was repeated',
  ],
  [
    'a clock that is ten minutes slow',
    verifying(() => ({ now: new Date(SIGNED_AT.getTime() - 600_000) })),
    'The webhook was signed in the future: 600 s from the present time, of which 300 s are accepted. Its signature is right, so the clock of this server is behind by this difference: set it to the right time',
  ],
  [
    'a secret that is no base64',
    verifying(() => ({ secret: 'whsec_%' })),
    'A webhook secret is not whsec_ and base64: copy the complete secret, as shown at its creation',
  ],
  [
    'no secret',
    verifying(() => ({ secret: undefined as never })),
    'No webhook secret was given: check the setting that it comes from',
  ],
  [
    'the address of the main API for the gateway',
    () => create({}, clientOf({ gatewayUrl: platform.demo.apiUrl })),
    `404: {api}: The main API has no path /api/v3.1/sessions. It is a path of the hosted gateway, {gateway}.${see('resource.not-found')}`,
  ],
  [
    'an address without https',
    () => create({}, clientOf({ gatewayUrl: 'pay.example' })),
    'gatewayUrl must be an http(s) address, as in https://pay.example.com',
  ],
  [
    'an address where nothing listens',
    () => create({}, clientOf({ gatewayUrl: 'http://127.0.0.1:59', wait: () => Promise.resolve() })),
    'No response: http://127.0.0.1:59: connect ECONNREFUSED 127.0.0.1:59. Is this the right address?',
  ],
];

test.each(MISTAKES)('the error message for %s explains how to fix it', async (_, make, message) => {
  const error = await Promise.resolve()
    .then(make)
    .catch((thrown: unknown) => thrown);
  expect((error as Error).message).toBe(
    message.replaceAll('{api}', platform.demo.apiUrl).replaceAll('{gateway}', platform.demo.gatewayUrl),
  );
});

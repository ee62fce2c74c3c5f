import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProviderUnavailableError } from './code-provider.js';
import { HttpCodeProvider } from './http-code-provider.js';
import type { ProviderSettings } from './provider-settings.js';

const DECODED = {
  merchant: { merchantReference: 'm', merchantName: 'Fuel', currencyISOCode: 'ZAR', currencySymbol: 'R', features: {} },
  invoice: { siteReference: 's', currencyISOCode: 'ZAR', amount: 100, createdUTCDate: '2026-01-01T00:00:00.000Z' },
};

let server: Server;
let handleRequest: (request: IncomingMessage, response: ServerResponse) => void;
let receivedRequests: IncomingMessage[];
const providers: HttpCodeProvider[] = [];

beforeEach(async () => {
  receivedRequests = [];
  server = createServer((request, response) => {
    receivedRequests.push(request);
    handleRequest(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Creates a provider at the address of the test server. */
function createProvider(changes: Partial<ProviderSettings> = {}, allowLoopback = true): HttpCodeProvider {
  const codeProvider = new HttpCodeProvider(
    {
      name: 'tapp',
      mode: 'test',
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
      apiKey: 'the key',
      // On a busy machine a response may take longer than expected. Only the tests of the timeout set a short one.
      timeoutMs: 10_000,
      hosts: ['qr.tapp.example'],
      shortLinks: [],
      verifiesUnknown: false,
      ...changes,
    },
    { allowLoopback },
  );
  providers.push(codeProvider);
  return codeProvider;
}

/** A handler that responds with this body as JSON. */
const respondWithJson = (body: unknown) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

test('find sends the code as base64url with the credentials, and returns the decoded response', async () => {
  handleRequest = respondWithJson(DECODED);
  const code = 'https://qr.tapp.example/?a=ÿ>/../x';
  expect(await createProvider().find(code)).toEqual({ kind: 'known', decoded: DECODED });
  const [request] = receivedRequests;
  expect(request!.url).toBe(`/v2/codes/${Buffer.from(code).toString('base64url')}`);
  expect(request!.headers.authorization).toBe('Bearer the key');
});

test('interim responses before the response are skipped', async () => {
  handleRequest = (request, response) => {
    response.writeContinue();
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    respondWithJson(DECODED)(request, response);
  };
  expect(await createProvider().find('x')).toEqual({ kind: 'known', decoded: DECODED });
});

test.each([
  [404, 'unknown'],
  [410, 'expired'],
])('if the provider responds with the status %d, find returns that the code is %s', async (status, kind) => {
  handleRequest = (_, response) => void response.writeHead(status).end('whatever');
  expect(await createProvider().find('x')).toEqual({ kind });
});

/** The error of a request to this provider, or undefined if the provider knows the code. */
const findError = (provider: HttpCodeProvider): Promise<unknown> =>
  provider.find('x').then(
    () => undefined,
    (error: unknown) => error,
  );

test.each<[string, typeof handleRequest]>([
  ['does not respond', () => undefined],
  [
    'never ends its response',
    (_, response) => {
      response.writeHead(200);
      response.write('{"merchant":');
    },
  ],
])('find reports a provider that %s as unavailable after the timeout', async (_, respond) => {
  handleRequest = respond;
  const failure = await findError(createProvider({ timeoutMs: 200 }));
  expect(failure).toBeInstanceOf(ProviderUnavailableError);
  expect((failure as Error).message).toMatch(/no response in time/);
});

test.each<[string, typeof handleRequest, RegExp]>([
  ['closes the connection', (request) => request.socket.destroy(), /connection failed/],
  ['responds 500', (_, response) => void response.writeHead(500).end(), /status is 500/],
  ['rejects the credentials', (_, response) => void response.writeHead(401).end(), /status is 401/],
  [
    'redirects',
    (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    /status is 302/,
  ],
  ['responds without JSON', (_, response) => void response.writeHead(200).end('<html>'), /not JSON/],
  ['responds with an empty body', (_, response) => void response.writeHead(200).end(), /not JSON/],
  ['responds with an incomplete object', respondWithJson({ merchant: DECODED.merchant }), /invoice is not an object/],
  [
    'responds with two megabytes',
    (_, response) => void response.writeHead(200).end(Buffer.alloc(2 * 1024 * 1024, 0x20)),
    /too large/,
  ],
  [
    'responds with too large headers',
    (_, response) => void response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(),
    /connection failed/,
  ],
])('find reports a provider that %s as unavailable', async (_, respond, expectedReason) => {
  handleRequest = respond;
  const failure = await findError(createProvider());
  expect(failure).toBeInstanceOf(ProviderUnavailableError);
  expect((failure as Error).message).toMatch(expectedReason);
});

test('find sends no request to a private or otherwise invalid address (E7)', async () => {
  handleRequest = respondWithJson(DECODED);
  const { port } = server.address() as AddressInfo;
  for (const baseUrl of [
    `http://127.0.0.1:${port}`,
    `https://localhost:8443`,
    'https://10.0.0.7',
    'https://[::ffff:127.0.0.1]',
    'https://169.254.169.254/latest',
    'http://provider.example',
    'https://user:password@provider.example',
  ])
    await expect(createProvider({ baseUrl }, false).find('x')).rejects.toThrow(/its address is not allowed/);
  expect(receivedRequests).toEqual([]);
});

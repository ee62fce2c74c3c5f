/** The whole responses to wrong hosts, paths, methods and kinds of keys, as a beginner gets them with curl. */
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
let apiUrl: string;
let gatewayUrl: string;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  ({ apiUrl, gatewayUrl } = platform.demo);
});

/** Status, the headers that explain an error, and the body: JSON without the id of the request, or text. */
async function send(url: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, init);
  const text = await response.text();
  const requestId = response.headers.get('x-request-id');
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    code: response.headers.get('x-error-code'),
    link: response.headers.get('link'),
    allow: response.headers.get('allow'),
    body: isJson ? (JSON.parse(text.replaceAll(requestId!, 'id')) as unknown) : text,
  };
}

const newError = (status: number, code: string, body: unknown, allow: string | null = null): unknown => ({
  ...{ status, code, allow, body },
  link: `<${apiUrl}/errors/${code}>; rel="help"`,
});
const newProblem = (status: number, code: string, title: string, detail: string): unknown => ({
  type: `${apiUrl}/errors/${code}`,
  ...{ title, status, code, detail, instance: 'id' },
  errors: [{ errorReference: '40', message: detail }],
});

it('the main API names the gateway, and the gateway names the main API', async () => {
  const detail = `The main API has no path /api/v3.1/sessions. It is a path of the hosted gateway, ${gatewayUrl}.`;
  expect(await send(`${apiUrl}/api/v3.1/sessions`, { method: 'POST', body: '{}' })).toEqual(
    newError(404, 'resource.not-found', newProblem(404, 'resource.not-found', 'Nothing was found here.', detail)),
  );
  const message = `The hosted gateway has no path /v1/payments. It is a path of the main API, ${apiUrl}.`;
  expect(await send(`${gatewayUrl}/v1/payments`)).toEqual(
    newError(404, 'resource.not-found', { status: 'NotFound', errors: [{ message }] }),
  );
});

it('a wrong method lists the methods, also if two services share the path', async () => {
  const message = '/api/v3.1/sessions has no method GET. Its methods are: POST.';
  expect(await send(`${gatewayUrl}/api/v3.1/sessions`)).toEqual(
    newError(405, 'request.method-not-allowed', { status: 'BadRequest', errors: [{ message }] }, 'POST'),
  );
  const title = 'This path does not have this method. The header Allow lists the methods that it has.';
  for (const [method, path, allow] of [
    ['PUT', '/v1/payments', 'GET, HEAD, POST'],
    ['POST', '/v1/payments/7K3M9Q2XWT4H8N6PZD', 'GET, HEAD'],
    ['GET', '/v1/auth/service/login', 'POST'],
  ] as const)
    expect(await send(`${apiUrl}${path}`, { method })).toEqual(
      newError(
        405,
        'request.method-not-allowed',
        newProblem(
          405,
          'request.method-not-allowed',
          title,
          `${path} has no method ${method}. Its methods are: ${allow}.`,
        ),
        allow,
      ),
    );
});

it.each([
  ['/v1/payment', 'Did you mean /v1/payments? Its methods are: GET, HEAD, POST.', 'The main API has no path'],
  ['/v1/codes', 'Did you mean /v1/codes/{code}? Its methods are: GET, HEAD.', 'There is no path'],
  ['/v1/unknown/path', 'All paths: {api}/reference.', 'The main API has no path'],
])('the wrong path %s is explained', async (path, advice, beginning) => {
  const detail = `${beginning} ${path}${beginning.startsWith('There') ? ' here' : ''}. ${advice.replace('{api}', apiUrl)}`;
  expect(await send(`${apiUrl}${path}`)).toEqual(
    newError(404, 'resource.not-found', newProblem(404, 'resource.not-found', 'Nothing was found here.', detail)),
  );
});

it('a 401 of the main API has no body, and its headers name the credential', async () => {
  const { apiKey } = platform.demo.partner;
  const { apiKey: siteKey, merchant } = platform.site(0, 0);
  const business = `${apiUrl}/business/api/v1/merchants/${merchant.merchantId}/payments?externalReference=1`;
  for (const [url, headers, code] of [
    [`${apiUrl}/v1/payments`, {}, 'credentials.key-missing'],
    [`${apiUrl}/v1/payments`, { 'x-api-key': siteKey }, 'credentials.partner-key-needed'],
    [`${apiUrl}/v1/payments`, { 'x-api-key': apiKey }, 'credentials.token-missing'],
    [`${apiUrl}/v1/payments`, { 'x-api-key': apiKey, authorization: 'Bearer x' }, 'credentials.token-malformed'],
    [business, { 'x-api-key': apiKey }, 'credentials.merchant-key-needed'],
    [business, { 'x-api-key': siteKey.slice(0, 20) }, 'credentials.key-malformed'],
  ] as const)
    expect(await send(url, { headers })).toEqual(newError(401, code, ''));
  // The page that the header links to exists.
  expect((await fetch(`${apiUrl}/errors/credentials.merchant-key-needed`)).status).toBe(200);
});

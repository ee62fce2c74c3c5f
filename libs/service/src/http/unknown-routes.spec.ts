import { ENDPOINTS, type Host } from '@svc/contracts';
import { explainUnknownRoute, type UnknownRequest } from './unknown-routes.js';

const URLS = { errorPages: 'https://api.example/errors', gatewayUrl: 'https://pay.example' };
const explain = (host: Host | undefined, request: string, urls: Partial<UnknownRequest> = URLS) => {
  const [method = '', address = ''] = request.split(' ');
  return explainUnknownRoute({ ...urls, host, method, address });
};

test.each<[Host | undefined, string, string]>([
  ['gateway', 'GET /api/v3.1/sessions', 'POST'],
  ['gateway', 'PUT /api/v3/sessions/0198?x=1', 'DELETE, GET, HEAD'],
  [undefined, 'POST /v1/payments/7K3M9Q2XWT4H8N6PZD', 'GET, HEAD'],
  [undefined, 'DELETE /v1/payments', 'GET, HEAD, POST'],
  [undefined, 'OPTIONS /api/v3.1/payments', 'GET, HEAD'],
  ['admin', 'DELETE /admin/v1/merchants', 'GET, HEAD, POST'],
])('on the host %s, %s is a 405 with the methods %s', (host, request, allow) => {
  const [method, path] = request.split(/[ ?]/);
  expect(explain(host, request)).toEqual({
    code: 'request.method-not-allowed',
    message: `${path} has no method ${method}. Its methods are: ${allow}.`,
    allow,
  });
});

test.each<[Host | undefined, string, string]>([
  // The API of another host.
  [
    'api',
    'POST /api/v3.1/sessions',
    'The main API has no path /api/v3.1/sessions. It is a path of the hosted gateway, https://pay.example.',
  ],
  [
    'api',
    'GET /pay?sessionId=1',
    'The main API has no path /pay. It is a path of the hosted gateway, https://pay.example.',
  ],
  [
    'gateway',
    'GET /v1/payments',
    'The hosted gateway has no path /v1/payments. It is a path of the main API, https://api.example.',
  ],
  [
    'gateway',
    'GET /business/api/v1/merchants/1001/payments?externalReference=1',
    'The hosted gateway has no path /business/api/v1/merchants/1001/payments. It is a path of the main API, https://api.example.',
  ],
  [
    'api',
    'GET /admin/v1/merchants',
    'The main API has no path /admin/v1/merchants. It is a path of the administration API, on a private network.',
  ],
  [
    undefined,
    'POST /api/v3.1/sessions/1',
    '/api/v3.1/sessions/1 has no method POST. Its methods are: DELETE, GET, HEAD.',
  ],
  // A service, such as the demo shop, that does not have the path itself.
  [
    undefined,
    'POST /api/v3.1/sessions',
    'There is no path /api/v3.1/sessions here. It is a path of the hosted gateway, https://pay.example.',
  ],
  // Similar paths.
  [
    'gateway',
    'POST /api/v3.1/session',
    'The hosted gateway has no path /api/v3.1/session. Did you mean /api/v3.1/sessions? Its methods are: POST.',
  ],
  [
    undefined,
    'POST /api/v3.1/session',
    'There is no path /api/v3.1/session here. Did you mean /api/v3.1/sessions? Its methods are: POST.',
  ],
  [
    'gateway',
    'POST /api/v3.1/sessions/',
    'The hosted gateway has no path /api/v3.1/sessions/. Did you mean /api/v3.1/sessions? Its methods are: POST.',
  ],
  [
    'gateway',
    'POST /api/v4/sessions',
    'The hosted gateway has no path /api/v4/sessions. Did you mean /api/v3.1/sessions? Its methods are: POST.',
  ],
  [
    'gateway',
    'POST /api/v5/sessions',
    'The hosted gateway has no path /api/v5/sessions. Did you mean /api/v3.1/sessions? Its methods are: POST.',
  ],
  [
    'gateway',
    'POST /api/v2/sessions',
    'The hosted gateway has no path /api/v2/sessions. Did you mean /api/v3/sessions? Its methods are: POST.',
  ],
  [
    'gateway',
    'POST /API/V3.1/Sessions',
    'The hosted gateway has no path /API/V3.1/Sessions. Did you mean /api/v3.1/sessions? Its methods are: POST.',
  ],
  [
    'gateway',
    'POST /sessions',
    'The hosted gateway has no path /sessions. Did you mean /api/v3.1/sessions? Its methods are: POST.',
  ],
  [
    'api',
    'POST /sessions',
    'The main API has no path /sessions. Did you mean /api/v3.1/sessions of the hosted gateway, https://pay.example? Its methods are: POST.',
  ],
  [
    'api',
    'GET /v2/payments',
    'The main API has no path /v2/payments. Did you mean /v1/payments? Its methods are: GET, HEAD, POST.',
  ],
  [
    'api',
    'GET /payments/7K3M9Q2XWT4H8N6PZD',
    'The main API has no path /payments/7K3M9Q2XWT4H8N6PZD. Did you mean /v1/payments/{paymentReference}? Its methods are: GET, HEAD.',
  ],
  [
    'api',
    'GET /v1/codes',
    'The main API has no path /v1/codes. Did you mean /v1/codes/{code}? Its methods are: GET, HEAD.',
  ],
  ['api', 'POST /v1/auth/login', 'The main API has no path /v1/auth/login. All paths: https://api.example/reference.'],
  ['api', 'GET /', 'The main API has no path /. All paths: https://api.example/reference.'],
  ['api', 'GET /graphql', 'The main API has no path /graphql. All paths: https://api.example/reference.'],
  [
    'api',
    `GET /${'x/'.repeat(13)}`,
    `The main API has no path /${'x/'.repeat(13)}. All paths: https://api.example/reference.`,
  ],
  ['shop', 'GET /x', 'The demo shop has no path /x. All paths: https://api.example/reference.'],
])('on the host %s, the response to %s is: %s', (host, request, message) => {
  expect(explain(host, request).message).toBe(message);
});

test('without the public URLs, a message names the host only', () => {
  expect(explain('api', 'POST /api/v3.1/sessions', {}).message).toBe(
    'The main API has no path /api/v3.1/sessions. It is a path of the hosted gateway.',
  );
  expect(explain('gateway', 'GET /v1/payments', { errorPages: '/errors' }).message).toBe(
    'The hosted gateway has no path /v1/payments. It is a path of the main API.',
  );
  expect(explain('api', 'GET /', { errorPages: '/errors' }).message).toBe('The main API has no path /.');
});

test('no message on a public host contains a path of the administration API that was not sent', () => {
  for (const path of Object.keys(ENDPOINTS.admin))
    for (const host of ['api', 'gateway'] as const) {
      const { message } = explain(host, `GET ${path.slice(0, -1).replaceAll(/[{}]/g, '')}`);
      expect(message.match(/[/]admin[/]\S*/g)).toHaveLength(1);
    }
});

test('a long path is truncated to 200 characters', () => {
  const { message } = explain('api', `GET /${'x'.repeat(300)}`);
  expect(message).toBe(`The main API has no path /${'x'.repeat(199)}…. All paths: https://api.example/reference.`);
});

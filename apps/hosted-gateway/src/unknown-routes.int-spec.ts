/** The whole responses to a wrong path and a wrong method, and the 401 of the API. */
import { newApiKey } from '@svc/auth';
import { SERVICE_SECURITY_HEADERS } from '@svc/testing';
import { buildSessionRequest, type Gateway, type HttpResponse, type Merchant, startGateway } from '../test/gateway.js';

const ERROR_PAGES = 'https://api.example/errors';
let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway({ SVC_ERROR_PAGES_URL: ERROR_PAGES });
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

/** Everything of a response that is not different each time. */
const describeResponse = ({ status, headers, body }: HttpResponse): unknown => {
  const {
    date: _date,
    'x-request-id': requestId,
    connection: _connection,
    'content-length': _length,
    ...rest
  } = headers;
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  return { status, headers: rest, body: body as unknown };
};

interface ExpectedError {
  readonly httpStatus: number;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}
const newError = ({ httpStatus, status, code, message, headers = {} }: ExpectedError): unknown => ({
  status: httpStatus,
  headers: {
    ...SERVICE_SECURITY_HEADERS,
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'x-error-code': code,
    link: `<${ERROR_PAGES}/${code}>; rel="help"`,
    ...headers,
  },
  body: { status, errors: [{ message }] },
});

test('a wrong method gets a 405 that lists the methods of the path, with and without credentials', async () => {
  for (const headers of [{}, merchant.headers])
    expect(describeResponse(await gateway.call('GET', '/api/v3.1/sessions?x=1', { headers }))).toEqual(
      newError({
        httpStatus: 405,
        status: 'BadRequest',
        code: 'request.method-not-allowed',
        message: '/api/v3.1/sessions has no method GET. Its methods are: POST.',
        headers: { allow: 'POST' },
      }),
    );
});

test.each([
  ['/api/v3.1/session', 'Did you mean /api/v3.1/sessions? Its methods are: POST.'],
  ['/api/v3.1/sessions/', 'Did you mean /api/v3.1/sessions? Its methods are: POST.'],
  ['/api/v4/payments', 'Did you mean /api/v3.1/payments? Its methods are: GET, HEAD.'],
  ['/v1/payments', 'It is a path of the main API, https://api.example.'],
  ['/api/orders', 'All paths: https://api.example/reference.'],
])('the wrong path %s gets a 404 with: %s', async (path, advice) => {
  const payload = buildSessionRequest();
  expect(describeResponse(await gateway.call('POST', path, { headers: merchant.headers, payload }))).toEqual(
    newError({
      httpStatus: 404,
      status: 'NotFound',
      code: 'resource.not-found',
      message: `There is no path ${path} here. ${advice}`,
    }),
  );
});

const UNKNOWN_KEY =
  'x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.';

test('a 401 names the wrong header to the holder of a valid key, and to others nothing about sites and merchants', async () => {
  const other = await gateway.createMerchant();
  const create = async (change: Record<string, string | undefined>): Promise<unknown> => {
    const all = { ...merchant.headers, ...change };
    const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
    return describeResponse(await gateway.call('POST', '/api/v3.1/sessions', { headers, payload: {} }));
  };
  const newUnauthorized = (code: string, message: string): unknown =>
    newError({ httpStatus: 401, status: 'Unauthorized', code, message });

  for (const siteId of ['9999999', String(other.siteId)])
    expect(await create({ merchantsiteid: siteId })).toEqual(
      newUnauthorized(
        'credentials.invalid',
        `This key is not of site ${siteId}: send the merchantSiteId of the key, or a key of that site.`,
      ),
    );
  for (const merchantId of ['9999999', String(other.merchantId)])
    expect(await create({ merchantid: merchantId })).toEqual(
      newUnauthorized(
        'credentials.invalid',
        `This key is not of merchant ${merchantId}: send the merchantId of the key, or a key of that merchant.`,
      ),
    );
  for (const siteId of ['9999999', String(other.siteId), String(merchant.siteId)])
    expect(await create({ merchantsiteid: siteId, 'x-api-key': newApiKey('site', 'test') })).toEqual(
      newUnauthorized('credentials.invalid', UNKNOWN_KEY),
    );
  for (const siteId of ['9999999', String(merchant.siteId)]) {
    const headers = { merchantsiteid: siteId, 'x-api-key': undefined };
    expect(await create(headers)).toEqual(
      newUnauthorized('credentials.key-missing', 'There is no such site, or it needs its key in the header x-api-key.'),
    );
    expect(await create({ ...headers, authorization: `Bearer ${merchant.siteKey}` })).toEqual(
      newUnauthorized(
        'credentials.key-missing',
        'The hosted gateway does not read the header Authorization: send the key of the site or its merchant in x-api-key.',
      ),
    );
  }
  expect(await create({ 'x-api-key': newApiKey('partner', 'test') })).toEqual(
    newUnauthorized(
      'credentials.merchant-key-needed',
      'x-api-key has the key of a partner: send one of a site or a merchant.',
    ),
  );
});

test('a site without a key needs one to read, and the message names the header', async () => {
  const keyless = await gateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
  const headers = { merchantid: String(keyless.merchantId), merchantsiteid: String(keyless.siteId) };
  const response = await gateway.call('GET', '/api/v3.1/deliveries', { headers });
  expect(describeResponse(response)).toEqual(
    newError({
      httpStatus: 401,
      status: 'Unauthorized',
      code: 'credentials.key-missing',
      message: 'This needs a key, also at this site: send the key of the site or its merchant in x-api-key.',
    }),
  );
});

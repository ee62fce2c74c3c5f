/** The warnings and hints in the responses to a request for a session, each read as a whole. */
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import {
  buildSessionRequest,
  type Gateway,
  type HttpResponse,
  type Merchant,
  startGateway,
} from '../../test/gateway.js';

const PAGE = '/errors/request.invalid';

let gateway: Gateway;
let merchant: Merchant;
let logged: jest.SpyInstance;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
  logged = jest.spyOn(gateway.service.app.get<ServiceLog>(SERVICE_LOG), 'warn');
});
beforeEach(() => logged.mockClear());
afterAll(() => gateway.stop());

const create = (payload: unknown, { headers } = merchant): Promise<HttpResponse> =>
  gateway.call('POST', '/api/v3.1/sessions', { headers, payload });

const IGNORED = (field: string, meant: string): string =>
  `${field} is not a field of this request and was ignored. Rename it if ${meant} is meant.`;

test('in test mode the response and the log name each field that looks misspelled, in the order of the request', async () => {
  const { siteName: _siteName, ...request } = buildSessionRequest({ orderId: '17', site_name: 'x', colour: 'red' });
  const { status, headers, body } = await create(request);
  const warnings = [
    { field: 'orderId', message: IGNORED('orderId', 'merchantOrderId') },
    { field: 'site_name', message: IGNORED('site_name', 'siteName') },
  ];
  expect([status, headers['content-type']]).toEqual([201, 'application/json; charset=utf-8']);
  const sessionId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
  const redirectUrl = expect.stringMatching(/^https:\/\/pay\.example\/pay\?sessionId=[0-9a-f-]{36}$/) as string;
  expect(body).toEqual({ sessionId, redirectUrl, status: 'Success', errors: [], warnings });
  expect(logged.mock.calls).toEqual([
    [{ merchantId: merchant.merchantId, siteId: merchant.siteId, warnings }, 'request for a session has warnings'],
  ]);

  // A repeat gets the same warnings (C7).
  const repeat = await create(request);
  expect([repeat.headers['idempotency-replayed'], repeat.body]).toEqual(['true', { ...body, sessionState: 'open' }]);
});

test('in live mode the response and the log never contain a warning', async () => {
  const live = await gateway.createMerchant({ mode: 'live' });
  const request = buildSessionRequest({ orderId: '17', notificationUrl: 'https://shop.example:3000/hook' });
  const { status, body } = await create(request, live);
  expect([status, Object.keys(body as object)]).toEqual([201, ['sessionId', 'redirectUrl', 'status', 'errors']]);
  expect(logged).not.toHaveBeenCalled();
});

test.each([
  ['https://shop.example:3000/hook', '3000'],
  ['https://shop.example:80/hook', '80'],
])('the notification address %s gets a warning, because production sends nothing to its port', async (url, port) => {
  const { status, body } = await create(buildSessionRequest({ notificationUrl: url }));
  const message = `notificationUrl has the port ${port}: production sends nothing to this port. Use port 443 or 8443.`;
  expect([status, body.warnings]).toEqual([201, [{ field: 'notificationUrl', message }]]);
});

test.each(['https://shop.example/hook', 'https://shop.example:8443/hook', 'http://localhost:3000/hook'])(
  'a request with the notification address %s and without unknown fields gets no warnings',
  async (notificationUrl) => {
    const { status, body } = await create(buildSessionRequest({ notificationUrl }));
    expect([status, Object.keys(body as object)]).toEqual([201, ['sessionId', 'redirectUrl', 'status', 'errors']]);
    expect(logged).not.toHaveBeenCalled();
  },
);

test('the error for a missing field names the field that was sent instead', async () => {
  const { merchantOrderId, currencyISOCode, customFields: _customFields, ...rest } = buildSessionRequest();
  const payload = {
    ...rest,
    orderId: merchantOrderId,
    currency: currencyISOCode,
    customFields: [{ Key: 'a', value: 'b' }],
  };
  const { status, headers, body } = await create(payload);
  expect([status, headers['link']]).toEqual([400, `<${PAGE}>; rel="help"`]);
  expect(body).toEqual({
    status: 'BadRequest',
    errors: [
      { message: 'merchantOrderId is required: rename orderId to merchantOrderId' },
      { message: 'currencyISOCode is required: rename currency to currencyISOCode' },
      { message: 'customFields[0].key is required: rename Key to key' },
    ],
  });
});

test('the error for an address of a site without a key lists the hosts that the site may use', async () => {
  const { merchantId, siteId } = await gateway.createMerchant({
    requireApiKey: false,
    allowedHosts: ['shop.example', 'www.shop.example'],
  });
  const headers = { merchantid: String(merchantId), merchantsiteid: String(siteId) };
  const request = buildSessionRequest({ returnUrl: 'https://shop.test/return' });
  const { status, body } = await gateway.call('POST', '/api/v3.1/sessions', { headers, payload: request });
  expect(status).toBe(400);
  expect(body).toEqual({
    status: 'BadRequest',
    errors: [
      {
        message:
          'returnUrl must be on one of the hosts that this site may use without an API key: shop.example, www.shop.example',
      },
    ],
  });
});

/**
 * A mock of Adyen's interface that is not part of this project accepts each request of the adapter. Run it with
 * `./svc npm run adyen-mock-check`, which installs the mock server. `./svc test` does not run it: there the requests are
 * validated with the same document (adyen-documents.ts).
 */
import { AdyenAcquirer } from '../../../src/acquirers/adyen/adyen-acquirer.js';
import { findRequiredFields, type RecordedRequest } from '../adyen-documents.js';
import { SETTINGS } from '../scripted-adyen.js';
import { ADAPTER_REQUESTS } from './adapter-requests.js';
import { type CheckedRequest, PrismMock } from './prism-mock.js';

let mock: PrismMock;
let adyen: AdyenAcquirer;
beforeAll(async () => {
  mock = await PrismMock.start();
  const log = { error: () => undefined, info: () => undefined };
  adyen = new AdyenAcquirer({ test: { ...SETTINGS, checkoutUrl: mock.url } }, log);
});
afterAll(async () => {
  await adyen?.onApplicationShutdown();
  await mock?.stop();
});
afterEach(() => {
  mock.tamper = (request) => request;
});

/** Sends the request. Returns it with the mock's verdict. */
async function send(name: string): Promise<CheckedRequest> {
  mock.requests.splice(0);
  await ADAPTER_REQUESTS[name]!(adyen);
  const [request] = mock.requests;
  if (!request) throw new Error(`${name}: the adapter has sent no request.`);
  return request;
}

const NAMES = Object.keys(ADAPTER_REQUESTS);

test('the mock accepts each request of the adapter', async () => {
  const checked: [string, CheckedRequest][] = [];
  for (const name of NAMES) checked.push([name, await send(name)]);
  process.stdout.write(formatTable(checked));
  expect(checked.filter(([, { rejection }]) => rejection !== undefined)).toEqual([]);
  expect(new Set(checked.map(([, { method, path }]) => `${method} ${path.replace(/\?.*/, '')}`))).toEqual(
    new Set([
      'POST /payments',
      'POST /payments/details',
      'POST /payments/JLCMPCQ8HXSKGK82/captures',
      'POST /cancels',
      'POST /payments/JLCMPCQ8HXSKGK82/refunds',
      'POST /storedPaymentMethods',
      'DELETE /storedPaymentMethods/M5N7TQ4TG5PFWR50',
    ]),
  );
});

test.each(NAMES)('the mock rejects without any of its required fields: %s', async (name) => {
  const request = await send(name);
  const faulty = findRequiredFields(request).map((field): [string, RecordedRequest] => [
    field,
    withoutField(request, field),
  ]);
  expect(faulty.length).toBeGreaterThan(0);
  for (const [field, each] of faulty) expect([field, await mock.check(each)]).toEqual([field, expect.any(String)]);
  const { 'x-api-key': _key, ...headers } = request.headers;
  expect(await mock.check({ ...request, headers })).toMatch(/^401: /);
});

test('this check finds a request of the adapter without a required field', async () => {
  mock.tamper = (request) => withoutField(request, 'amount');
  expect((await send('payment: card, browser')).rejection).toMatch(/^422: .*must have required property 'amount'/);
  mock.tamper = (request) => ({ ...request, path: `/v71${request.path}` });
  expect((await send('refund')).rejection).toMatch(/^404: /);
});

/** The request without a field of its body, or of its query if it has no body. */
function withoutField(request: RecordedRequest, field: string): RecordedRequest {
  const { path, body } = request;
  if (body !== '') {
    const { [field]: _dropped, ...rest } = JSON.parse(body) as Record<string, unknown>;
    return { ...request, body: JSON.stringify(rest) };
  }
  const { pathname, searchParams } = new URL(path, 'http://adyen');
  searchParams.delete(field);
  return { ...request, path: `${pathname}?${searchParams.toString()}` };
}

function formatTable(checked: readonly [string, CheckedRequest][]): string {
  const rows = checked.map(([name, { method, path, rejection }]) => [
    name,
    `${method} ${path.replace(/\?.*/, '')}`,
    rejection === undefined ? 'yes' : `NO, ${rejection}`,
  ]);
  const table = [['request', '', 'accepted by the mock'], ...rows];
  const [first, second] = [0, 1].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return `\n${table.map(([a, b, c]) => `${a!.padEnd(first!)} | ${b!.padEnd(second!)} | ${c}\n`).join('')}\n`;
}

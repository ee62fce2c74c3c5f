import { type Counter, type Meter, type MeterProvider, metrics } from '@opentelemetry/api';
import { type Gateway, startGateway } from '../../test/gateway.js';
import { MAX_REPORTS_PER_MINUTE } from './csp-reports.controller.js';

const countedMetrics: string[] = [];
let gateway: Gateway;
beforeAll(async () => {
  const createCounter = (name: string): Counter => ({ add: () => void countedMetrics.push(name) });
  const meter = Object.assign(Object.create(metrics.getMeter('none')) as Meter, { createCounter });
  metrics.setGlobalMeterProvider({ getMeter: () => meter } satisfies MeterProvider);
  gateway = await startGateway({ SVC_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(async () => {
  metrics.disable();
  await gateway.stop();
});
beforeEach(() => countedMetrics.splice(0));

const countedReports = (): string[] => countedMetrics.filter((name) => name === 'svc.page.csp-reports');
async function sendReport(ipAddress: string, type = 'application/csp-report', payload = '{"csp-report":{}}') {
  const headers = { 'content-type': type, 'x-forwarded-for': ipAddress };
  return (await gateway.call('POST', '/pay/csp-reports', { headers, payload })).status;
}

test('the endpoint counts reports of both media types, with any content', async () => {
  expect(await sendReport('203.0.113.1')).toBe(204);
  expect(await sendReport('203.0.113.1', 'application/reports+json', '[{"type":"csp-violation"}]')).toBe(204);
  expect(await sendReport('203.0.113.1', 'application/csp-report', 'not even JSON')).toBe(204);
  expect(countedReports()).toHaveLength(3);
});

test.each(['application/json', 'text/plain', 'application/csp-report-not', ''])(
  'a request with content type %j is rejected with 415 and not counted',
  async (type) => {
    expect(await sendReport('203.0.113.5', type)).toBe(415);
    expect(countedReports()).toEqual([]);
  },
);

test.each([
  ['cross-site', 403],
  ['same-site', 403],
  ['same-origin', 204],
])('a report from a page with Sec-Fetch-Site %s gets status %i', async (fetchSite, status) => {
  const headers = {
    'content-type': 'application/csp-report',
    'x-forwarded-for': '203.0.113.6',
    'sec-fetch-site': fetchSite,
  };
  expect((await gateway.call('POST', '/pay/csp-reports', { headers, payload: '{}' })).status).toBe(status);
  expect(countedReports()).toHaveLength(status === 204 ? 1 : 0);
});

test('the endpoint accepts a media type with parameters', async () => {
  expect(await sendReport('203.0.113.5', 'Application/CSP-Report; charset=utf-8')).toBe(204);
  expect(countedReports()).toHaveLength(1);
});

test('the endpoint rejects a report that is too large, without counting it', async () => {
  expect(await sendReport('203.0.113.2', 'application/csp-report', 'x'.repeat(16 * 1024 + 1))).toBe(413);
  expect(countedReports()).toHaveLength(0);
});

test('the endpoint limits the reports from each IP address', async () => {
  for (let sent = 0; sent < MAX_REPORTS_PER_MINUTE; sent++) expect(await sendReport('203.0.113.3')).toBe(204);
  expect(await sendReport('203.0.113.3')).toBe(429);
  expect(await sendReport('203.0.113.4')).toBe(204);
  expect(countedReports()).toHaveLength(MAX_REPORTS_PER_MINUTE + 1);
});

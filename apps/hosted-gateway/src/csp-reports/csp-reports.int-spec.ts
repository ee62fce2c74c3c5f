import { type Counter, type Meter, type MeterProvider, metrics } from '@opentelemetry/api';
import { type Gateway, startGateway } from '../../test/gateway.js';
import { MAX_REPORTS_PER_MINUTE } from './csp-reports.controller.js';

const counted: string[] = [];
let gateway: Gateway;
beforeAll(async () => {
  const counterOf = (name: string): Counter => ({ add: () => void counted.push(name) });
  const meter = Object.assign(Object.create(metrics.getMeter('none')) as Meter, { createCounter: counterOf });
  metrics.setGlobalMeterProvider({ getMeter: () => meter } satisfies MeterProvider);
  gateway = await startGateway({ SVC_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(async () => {
  metrics.disable();
  await gateway.stop();
});
beforeEach(() => counted.splice(0));

const ours = (): string[] => counted.filter((name) => name === 'svc.page.csp-reports');
async function report(address: string, type = 'application/csp-report', payload = '{"csp-report":{}}') {
  const headers = { 'content-type': type, 'x-forwarded-for': address };
  return (await gateway.call('POST', '/pay/csp-reports', { headers, payload })).status;
}

test('the endpoint counts reports in both formats, with any content', async () => {
  expect(await report('203.0.113.1')).toBe(204);
  expect(await report('203.0.113.1', 'application/reports+json', '[{"type":"csp-violation"}]')).toBe(204);
  expect(await report('203.0.113.1', 'application/csp-report', 'not even JSON')).toBe(204);
  expect(ours()).toHaveLength(3);
});

test.each(['application/json', 'text/plain', 'application/csp-report-not', ''])(
  'a request with content type %j is not a report: it is rejected and not counted',
  async (type) => {
    expect(await report('203.0.113.5', type)).toBe(415);
    expect(ours()).toEqual([]);
  },
);

test.each([
  ['cross-site', 403],
  ['same-site', 403],
  ['same-origin', 204],
])('a report from a %s page gets a %i', async (from, status) => {
  const headers = {
    'content-type': 'application/csp-report',
    'x-forwarded-for': '203.0.113.6',
    'sec-fetch-site': from,
  };
  expect((await gateway.call('POST', '/pay/csp-reports', { headers, payload: '{}' })).status).toBe(status);
  expect(ours()).toHaveLength(status === 204 ? 1 : 0);
});

test('the endpoint accepts a media type with parameters', async () => {
  expect(await report('203.0.113.5', 'Application/CSP-Report; charset=utf-8')).toBe(204);
  expect(ours()).toHaveLength(1);
});

test('the endpoint rejects a report that is too large, without counting it', async () => {
  expect(await report('203.0.113.2', 'application/csp-report', 'x'.repeat(16 * 1024 + 1))).toBe(413);
  expect(ours()).toHaveLength(0);
});

test('the endpoint limits the reports of each address', async () => {
  for (let sent = 0; sent < MAX_REPORTS_PER_MINUTE; sent++) expect(await report('203.0.113.3')).toBe(204);
  expect(await report('203.0.113.3')).toBe(429);
  expect(await report('203.0.113.4')).toBe(204);
  expect(ours()).toHaveLength(MAX_REPORTS_PER_MINUTE + 1);
});

test('the page has headers for reports and for permissions', async () => {
  const { headers } = await gateway.call('GET', '/pay?sessionId=none', {});
  expect(headers['content-security-policy']).toContain('report-uri /pay/csp-reports; report-to csp');
  expect(headers['reporting-endpoints']).toBe('csp="/pay/csp-reports"');
  expect(headers['permissions-policy']).toContain('camera=()');
});

/**
 * The browser blocks an image of another origin in the payment page and reports the block to hosted-gateway. The
 * gateway counts the report in its metrics. The test uses `report-uri`, like browsers without the Reporting API.
 * Browsers with the Reporting API send reports later, and only over HTTPS.
 */
import { waitUntil } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { startBrowser } from './browser/browser.js';
import { PageStates } from './browser/page-states.js';
import type { Platform } from './platform/platform.js';
import { ServiceReplica } from './platform/service-replica.js';
import { sharedPlatform } from './platform/shared-platform.js';
import { TraceCollector } from './platform/trace-collector.js';

let collector: TraceCollector;
let platform: Platform;
let gateway: ServiceReplica;
let browser: Browser;
beforeAll(async () => {
  collector = await TraceCollector.start();
  const metrics = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '1000' };
  platform = await sharedPlatform('distributed');
  gateway = await ServiceReplica.start(platform, 'hosted-gateway', { ...collector.environment, ...metrics });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.end();
  await collector?.stop();
});

it('an image of another origin is blocked in the payment page, and hosted-gateway counts the report', async () => {
  const page = await browser.newPage();
  await page.route(/\/pay\?/, async (route) => {
    const response = await route.fetch();
    const { 'content-security-policy': policy = '', ...headers } = response.headers();
    expect(policy).toMatch(/; report-to csp$/);
    await route.fulfill({
      response,
      headers: { ...headers, 'content-security-policy': policy.replace('; report-to csp', '') },
    });
  });
  const { pathname, search } = new URL(await new PageStates(platform).open());
  await page.goto(`${gateway.url}${pathname}${search}`);
  await page.locator('#pay-fields:enabled').waitFor({ state: 'visible' });
  const isLoaded = page.evaluate(() => {
    const image = document.createElement('img');
    const loaded = new Promise((resolve) => {
      image.addEventListener('load', () => resolve(true));
      image.addEventListener('error', () => resolve(false));
    });
    image.src = 'http://127.0.0.1:9/stolen';
    document.body.append(image);
    return loaded;
  });
  expect(await isLoaded).toBe(false);
  await waitUntil('the report to be counted', 30_000, () =>
    Promise.resolve(collector.countOf('svc.page.csp-reports') === 1),
  );
});

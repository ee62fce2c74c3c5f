/**
 * Something gets into a payer's page that does not belong there: the browser refuses it, tells the platform by itself, in the form that it
 * has, and the platform's metrics say so.
 */
import { waitUntil } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { startBrowser } from './browser.js';
import { PageStates } from './page-states.js';
import { Platform } from './platform.js';
import { TraceCollector } from './trace-collector.js';

let collector: TraceCollector;
let platform: Platform;
let browser: Browser;
beforeAll(async () => {
  collector = await TraceCollector.start();
  const metrics = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '500' };
  // Over HTTPS, without which Chromium sends none of a policy that names an endpoint by `report-to`.
  platform = await Platform.start('csp-reports', { ...collector.environment, ...metrics }, 'embedded', ['--lan']);
  // Reports are gathered for a minute otherwise.
  browser = await startBrowser('--short-reporting-delay', '--ignore-certificate-errors');
});
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  await collector?.stop();
});

it('an image of another origin that somebody put into the page is not loaded, and is counted', async () => {
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  // Every page has the policy, also that of no session.
  await page.goto(new PageStates(platform).notFound());
  expect(collector.countOf('svc.page.csp-reports')).toBe(0);
  await page.evaluate(() => {
    const image = document.createElement('img');
    image.src = 'http://127.0.0.1:9/stolen';
    document.body.append(image);
  });
  await waitUntil('the report to be counted', 30_000, () =>
    Promise.resolve(collector.countOf('svc.page.csp-reports') === 1),
  );
});

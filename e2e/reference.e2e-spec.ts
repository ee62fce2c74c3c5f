/** The API reference that the platform serves, in a real browser. With SVC_DOCS_PICTURES=1 it updates the pictures. */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { closeContext, recordPageErrors, startBrowser } from './browser/browser.js';
import { type Platform, ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
let browser: Browser;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  browser = await startBrowser();
});
afterAll(() => browser?.close());

it.each([
  ['partner', 'apiUrl', '/v1/payments', 'Makes a payment'],
  ['merchant', 'apiUrl', '/business/api/v1/merchants/{merchantId}/refunds', 'Refunds a payment'],
  ['gateway', 'apiUrl', '/api/v3.1/sessions', 'Creates a session'],
  ['transformer', 'apiUrl', '/BasketClosed', 'Closes a basket'],
  ['administration', 'adminUrl', '/admin/v1/audit-log', 'Reads the audit log'],
] as const)('the page of the %s reference shows its operations without errors', async (name, host, path, summary) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const pageErrors = recordPageErrors(context);
  const page = await context.newPage();
  await page.goto(`${platform.demo[host]}/reference`);
  await page
    .getByRole('navigation')
    .getByRole('link', { name: new RegExp(name, 'i') })
    .click();
  await page.locator(`[data-path="${path}"]`).first().waitFor();
  expect(await page.locator('#reference').innerText()).toContain(summary);
  if (name === 'gateway') await takePicture(page);
  expect(pageErrors).toEqual([]);
  await closeContext(context);
});

it('every link in the list of references works', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${platform.demo.apiUrl}/reference`);
  const links = await page.locator('main a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(9);
  const answers = await Promise.all(links.map((link) => fetch(link)));
  expect(answers.map(({ status }) => status)).toEqual(links.map(() => 200));
  await closeContext(context);
});

/**
 * Shows the top of the page, and one operation with the example that a test recorded. Takes a picture if
 * SVC_DOCS_PICTURES is 1.
 */
async function takePicture(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 1500 });
  const operation = page.locator('#operations-Sessions-sessionsCreate');
  await operation.getByRole('button').first().click();
  await operation.locator('.opblock-body').getByText('order-17-1').first().waitFor();
  await operation.scrollIntoViewIfNeeded();
  if (process.env['SVC_DOCS_PICTURES'] === '1')
    await page.screenshot({ path: join(ROOT, 'docs', 'images', 'reference.png') });
}

/** The demo shop's own pages are accessible: the shop, and an order before, after and without its payment. */
import { PATIENCE } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  axeFindings,
  checkOutCoffee,
  closeContext,
  fillCard,
  payButton,
  recordPageErrors,
  screenshot,
  scrollsSideways,
  startBrowser,
  waitForHeading,
} from './browser/browser.js';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let pageErrors: string[];
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-ZA', viewport: { width: 320, height: 640 } });
  pageErrors = recordPageErrors(context);
  page = await context.newPage();
  await page.goto(platform.demo.shopUrl);
});
afterEach(() => closeContext(context));

async function expectAccessible(name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([name, colorScheme, await axeFindings(page), await scrollsSideways(page)]).toEqual([
      name,
      colorScheme,
      [],
      false,
    ]);
  }
  await screenshot(page, `shop-${name}`);
  expect(pageErrors).toEqual([]);
}

it('the shop’s first page is accessible', () => expectAccessible('window'));

it('the page of an unpaid order shows that it is unpaid, and does not wait for a payment', async () => {
  await checkOutCoffee(page);
  await page.getByRole('link', { name: 'Back to store' }).click();
  await page.getByText('You came back without paying.').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
  expect(await page.getByText('Awaiting payment').count()).toBe(0);
  await expectAccessible('left');
});

it('the page of an order that is paid later shows the payment without a reload', async () => {
  await checkOutCoffee(page);
  await waitForHeading(page, 'Pay by card');
  const paying = await context.newPage();
  await paying.goto(page.url());
  await page.getByRole('link', { name: 'Back to store' }).click();
  await page.getByText('You came back without paying.').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
  await page.goto(page.url().split('?')[0]!);
  await page.getByText('Awaiting payment.').waitFor({ state: 'visible' });
  await expectAccessible('awaiting');
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  await fillCard(paying, '4242 4242 4242 4242');
  await payButton(paying).click();
  await waitForHeading(paying, 'Payment successful');
  await page.bringToFront();
  await page.locator('#order-state[data-state="paid"]').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
  expect(await page.evaluate(() => 'isSameDocument' in window)).toBe(true);
  expect(await page.title()).toContain('is paid');
  await expectAccessible('paid');
});

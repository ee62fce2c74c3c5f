/**
 * The console, as the people of a merchant meet it: an invitation, the second factor, a payment that is found by its
 * order number, its webhook that is sent again, money that is given back, and a list that shows new payments by itself.
 */
import { randomInt } from 'node:crypto';
import { PATIENCE } from '@svc/testing';
import type { Locator, Page } from 'playwright-core';
import { ConsoleBrowser } from './browser/console-browser.js';
import { gatewayClient, newSessionRequest, onboardMerchant } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import type { MerchantSite, Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const TIMEOUT_MS = 180_000 * PATIENCE;

let platform: Platform;
let site: MerchantSite;
let endpoint: MerchantEndpoint;
let browser: ConsoleBrowser;
/** The status with which the merchant's server answers webhooks. */
let answer = 500;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  site = await onboardMerchant(platform, 'Karoo Books');
  endpoint = await MerchantEndpoint.start(site.webhookSecret, () => answer);
  browser = await ConsoleBrowser.start(platform);
});
afterAll(async () => {
  await browser?.stop();
  await endpoint?.stop();
});
afterEach(() => browser.closePages());

/** Pays an order on the payment page, and returns its number. */
async function payOrder(amount: number): Promise<string> {
  const merchantOrderId = `BOOKS-${randomInt(1e9)}`;
  const request = newSessionRequest(endpoint.url, { merchantOrderId, amount });
  const { redirectUrl } = await gatewayClient(platform, site).createSession(request);
  const { state } = await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));
  expect(state).toBe('succeeded');
  return merchantOrderId;
}

/** The page of a payment shows what had happened when it was loaded. */
async function reloadUntil(page: Page, text: Locator): Promise<void> {
  for (let loads = 0; !(await text.isVisible()); loads++) {
    expect(loads).toBeLessThan(100);
    await page.reload();
  }
}

it(
  'support finds a payment by its order number, sees that the webhook got a 500, sends it again, and the merchant receives it',
  async () => {
    answer = 500;
    const order = await payOrder(25_000);
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'support');
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByLabel('Order, reference, amount').fill(order.toLowerCase());
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: order }).click();
    await reloadUntil(page, page.getByText(/^Attempts: \d+$/));
    await page.getByText(/^Attempts: \d+$/).click();
    await page.getByText(/Attempt 1: 500/).waitFor();
    await browser.expectAccessible(page, 'console-payment');

    answer = 200;
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The webhook is being sent again.').waitFor();
    await reloadUntil(page, page.getByText('Webhook delivered'));
    expect(
      endpoint.deliveries.filter(({ acknowledged }) => acknowledged).map(({ payment }) => payment.merchantOrderId),
    ).toEqual([order]);
  },
  TIMEOUT_MS,
);

it(
  'an owner gives back a part, then the rest; a repeat of the form gives back nothing more',
  async () => {
    answer = 200;
    const order = await payOrder(25_000);
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'owner');
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByRole('link', { name: order }).click();
    await page.getByText('R 250.00 can still be given back.').waitFor();
    await page.getByLabel('Amount in Rand').fill('100.50');
    await page.getByLabel('Reason').fill('A book was damaged');
    const form = await page.locator('form', { hasText: 'Give back' }).evaluate((element: HTMLFormElement) => ({
      action: element.action,
      body: new URLSearchParams(new FormData(element) as unknown as Record<string, string>).toString(),
    }));
    await page.getByRole('button', { name: 'Give back' }).click();
    await page.getByText('R 100.50 was given back.').waitFor();
    await page.getByText('R 149.50 can still be given back.').waitFor();
    const repeat = await page.evaluate(async ({ action, body }) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return (await fetch(action, { method: 'POST', headers, body })).url;
    }, form);
    expect(new URL(repeat).search).toBe('?refund=succeeded&amount=10050');
    await page.reload();
    await page.getByText('R 149.50 can still be given back.').waitFor();
    await page.getByRole('button', { name: 'Give back' }).click();
    await page.getByText('R 149.50 was given back.').waitFor();
    await page.getByText('Nothing is left to give back.').waitFor();
    await page.getByText('Given back', { exact: true }).first().waitFor();
  },
  TIMEOUT_MS,
);

it(
  'the list shows a new payment by itself, and the page of today has its sales; a developer sees neither refunds nor CSV',
  async () => {
    answer = 200;
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'developer');
    await payOrder(10_000);
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.locator('[data-live]').waitFor();
    const order = await payOrder(12_345);
    await page.getByRole('link', { name: order }).waitFor();
    await browser.expectAccessible(page, 'console-payments');
    expect(await page.getByText('Download CSV').isVisible()).toBe(false);
    await page.getByRole('link', { name: order }).click();
    expect(await page.getByRole('button', { name: 'Give back' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('img', { name: 'Sales by hour' }).waitFor();
    await browser.expectAccessible(page, 'console-today');
    const later = await payOrder(9_900);
    await page.getByRole('link', { name: later }).waitFor();
  },
  TIMEOUT_MS,
);

/** A list of payments in the console, and the page of today, show new payments by themselves. */
import { randomInt } from 'node:crypto';
import { PATIENCE } from '@svc/testing';
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
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  site = await onboardMerchant(platform, 'Karoo Books');
  endpoint = await MerchantEndpoint.start(site.webhookSecret, () => 200);
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

it(
  'the list shows a new payment by itself, and the page of today has its sales',
  async () => {
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'developer');
    await payOrder(10_000);
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.locator('[data-live]').waitFor();
    const order = await payOrder(12_345);
    await page.getByRole('link', { name: order }).waitFor();
    await browser.expectAccessible(page, 'console-payments');
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('img', { name: 'Sales by hour' }).waitFor();
    await browser.expectAccessible(page, 'console-today');
    const later = await payOrder(9_900);
    await page.getByRole('link', { name: later }).waitFor();
  },
  TIMEOUT_MS,
);

/**
 * Payment requests in the console: a person of a merchant sends a link, the customer pays it on a phone, and the list of
 * the person turns paid by itself.
 */
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '@svc/contracts';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Page } from 'playwright-core';
import { fillCard, payButton, waitForHeading } from './browser/browser.js';
import { ConsoleBrowser } from './browser/console-browser.js';
import { onboardMerchant } from './callers/merchant.js';
import type { MerchantSite, Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const TIMEOUT_MS = 180_000 * PATIENCE;
const PHONE = { width: 390, height: 844 };

let platform: Platform;
let site: MerchantSite;
let browser: ConsoleBrowser;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  site = await onboardMerchant(platform, 'Karoo Cakes');
  browser = await ConsoleBrowser.start(platform);
});
afterAll(() => browser?.stop());
afterEach(() => browser.closePages());

async function openRequests(page: Page, role: Role): Promise<void> {
  await browser.acceptInvitation(page, site, role);
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.getByRole('heading', { name: 'Payment requests' }).waitFor();
}

/** Fills in the form and returns the link of the new request. */
async function requestPayment(page: Page, description: string, fields: Record<string, string> = {}): Promise<string> {
  await page.getByRole('link', { name: 'Request a payment' }).click();
  await page.getByLabel('Amount in Rand').fill('250');
  await page.getByLabel('Description, which the payer sees').fill(description);
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
  await page.getByRole('button', { name: 'Request payment' }).click();
  await page.getByText('The request was created.').waitFor();
  return (await page.locator('.pay-link').getAttribute('href'))!;
}

async function payOnPhone(link: string, description: string): Promise<void> {
  const phone = await browser.openPage();
  await phone.setViewportSize(PHONE);
  await phone.goto(link);
  await phone.getByText(description).waitFor();
  await fillCard(phone, '4242 4242 4242 4242');
  await payButton(phone).click();
  await waitForHeading(phone, 'Payment successful');
  await phone.getByText('The sender of the request receives the confirmation too.').waitFor();
}

it(
  'R 250 is requested, it is paid on a phone, and the list turns paid by itself',
  async () => {
    const description = `Cake ${randomInt(1e9)}`;
    const page = await browser.openPage();
    await openRequests(page, 'support');
    const link = await requestPayment(page, description);
    await browser.expectAccessible(page, 'console-request');
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    const row = page.getByRole('row', { name: description });
    await row.getByText('R 250.00').waitFor();
    await row.locator('.state', { hasText: 'Open' }).waitFor();
    // A page that was loaded again would not have this mark.
    await page.evaluate(() => document.body.setAttribute('data-not-reloaded', ''));
    await payOnPhone(link, description);
    await row.locator('.state', { hasText: 'Paid' }).waitFor();
    expect(await page.locator('body[data-not-reloaded]').count()).toBe(1);
    await browser.expectAccessible(page, 'console-requests');
    await row.getByRole('link', { name: description }).click();
    await page.locator('.request.paid').getByRole('link').click();
    await page.getByRole('heading', { name: /^Payment / }).waitFor();
  },
  TIMEOUT_MS,
);

it(
  'a browser that can share passes the link to other apps, and no other browser has the button',
  async () => {
    const description = `Cake ${randomInt(1e9)}`;
    const page = await browser.openPage();
    await page.addInitScript(() =>
      Object.defineProperty(Navigator.prototype, 'share', { value: undefined, configurable: true }),
    );
    await openRequests(page, 'owner');
    const link = await requestPayment(page, description);
    const button = page.getByRole('button', { name: 'Send the link' });
    await page.getByRole('button', { name: 'Print' }).waitFor();
    expect(await button.count()).toBe(0);
    await page.addInitScript(() => {
      const share = (data: ShareData): Promise<void> => {
        document.body.dataset['shared'] = data.url;
        return Promise.reject(new DOMException('The list of apps was closed.', 'AbortError'));
      };
      Object.defineProperty(Navigator.prototype, 'share', { value: share });
    });
    await page.reload();
    await button.click();
    await page.locator('body[data-shared]').waitFor();
    expect(await page.locator('body').getAttribute('data-shared')).toBe(link);
  },
  TIMEOUT_MS,
);

it(
  'the page of a request turns paid by itself too, and hides the link; it can be copied before',
  async () => {
    const description = `Cake ${randomInt(1e9)}`;
    const page = await browser.openPage();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await openRequests(page, 'owner');
    const link = await requestPayment(page, description);
    await page.getByRole('button', { name: 'Copy the link' }).click();
    await page.getByText('The link was copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
    await page.getByRole('button', { name: 'Print' }).waitFor();
    await payOnPhone(link, description);
    await page.locator('.request.paid').waitFor();
    expect(await page.locator('.share').isVisible()).toBe(false);
  },
  TIMEOUT_MS,
);

it(
  'a customer gets the link by e-mail, and a cancelled request cannot be paid; the form works with the keyboard alone',
  async () => {
    const email = `thandi-${randomInt(1e9)}@example.com`;
    const page = await browser.openPage();
    await openRequests(page, 'owner');
    await page.getByRole('link', { name: 'Request a payment' }).press('Enter');
    await browser.expectAccessible(page, 'console-request-new');
    await page.getByLabel('Amount in Rand').focus();
    for (const text of ['99.50', 'Repair of a chair', 'CHAIR-1']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.getByLabel('E-mail of the customer').fill(email);
    await page.keyboard.press('Enter');
    await page.getByText('The e-mail was sent.').waitFor();
    const link = (await page.locator('.pay-link').getAttribute('href'))!;
    const folder = join(platform.dataDir, 'mail');
    const mail = await waitUntil('the mail', 10_000, async () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .find((content) => content.includes(`To: ${email}`)),
    );
    expect(mail).toContain('Karoo Cakes');
    await page.getByRole('button', { name: 'Cancel the request' }).click();
    await page.getByText('The request was cancelled.').waitFor();
    const phone = await browser.openPage();
    await phone.goto(link);
    await waitForHeading(phone, 'This payment request was cancelled');
    expect(await phone.getByLabel('Card number').count()).toBe(0);
  },
  TIMEOUT_MS,
);

/**
 * The look of the payment page in the console, and the rest of a payment's page: an owner uploads a logo, sees the page with
 * it and saves, support sends a receipt and sees a customer, and a large refund asks for a confirmation.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { ConsoleBrowser } from './browser/console-browser.js';
import { gatewayClient, newSessionRequest, onboardMerchant } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import type { MerchantSite, Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const TIMEOUT_MS = 180_000 * PATIENCE;
/** The time for which an authenticator shows a code. */
const TOTP_STEP_MS = 30_000;

let platform: Platform;
let site: MerchantSite;
let endpoint: MerchantEndpoint;
let browser: ConsoleBrowser;
/** The status with which the merchant's server answers webhooks. */
let answer = 200;
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

async function createSession(amount = 25_000): Promise<{ order: string; url: string }> {
  const order = `LOOK-${randomInt(1e9)}`;
  const request = newSessionRequest(endpoint.url, { merchantOrderId: order, amount });
  return { order, url: (await gatewayClient(platform, site).createSession(request)).redirectUrl };
}

/** Pays an order on the payment page, and opens its page in the console. */
async function openPayment(page: Page, amount?: number): Promise<void> {
  const { order, url } = await createSession(amount);
  expect((await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(url))).state).toBe('succeeded');
  await page.getByRole('link', { name: 'Payments', exact: true }).click();
  await page.getByRole('link', { name: order }).click();
  await page.getByRole('heading', { name: /^Payment / }).waitFor();
}

async function drawLogo(): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-console-logo-')), 'logo.png');
  const background = { r: 10, g: 125, b: 79 };
  await sharp({ create: { width: 480, height: 160, channels: 3, background } })
    .png()
    .toFile(file);
  return file;
}

it(
  'an owner uploads a logo, sees the page with it before it is saved, and payers see it afterwards',
  async () => {
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'owner');
    await page.getByRole('link', { name: 'Look', exact: true }).click();
    await page.getByLabel('Name on the page').fill('Karoo Coffee');
    await page.getByLabel('Use a colour of our own').check();
    await page.getByLabel('Colour', { exact: true }).fill('#ffcc00');
    await page.getByLabel('Logo: PNG').setInputFiles(await drawLogo());
    await page.getByLabel('E-mail').fill('help@karoo.example');
    await page.getByRole('button', { name: 'Show preview' }).click();
    await page.getByText('This is a preview. Nothing is saved yet.').waitFor();
    await page.getByText(/Your colour is darkened to #[0-9a-f]{6} on links/).waitFor();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('img', { name: 'Karoo Coffee', includeHidden: true }).waitFor();
    const button = frame.locator('#pay-button');
    expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(255, 204, 0)');
    const before = await (await fetch((await createSession()).url)).text();
    expect(before).not.toContain('Karoo Coffee');
    // A browser draws a frame only after it was in view.
    await page.locator('iframe').scrollIntoViewIfNeeded();
    await browser.expectAccessible(page, 'console-look');

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. Payers see it within a few seconds.').waitFor();
    const { url } = await createSession();
    await waitUntil('the look on the payment page', 15_000, async () => {
      const html = await (await fetch(url)).text();
      return html.includes('Karoo Coffee') && /src="\/looks\/[0-9a-f]{32}\.png"/.test(html);
    });
  },
  TIMEOUT_MS,
);

it(
  'support sends the receipt to the payer, and its page opens to be printed',
  async () => {
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'support');
    await openPayment(page);
    const email = `thandi-${randomInt(1e9)}@example.com`;
    await page.getByLabel('E-mail of the payer').fill(email);
    await page.getByRole('button', { name: 'Send the receipt' }).click();
    await page.getByText('The receipt was sent.').waitFor();
    await browser.expectAccessible(page, 'console-receipt');
    const folder = join(platform.dataDir, 'mail');
    const mails = await Promise.all(
      (await readdir(folder))
        .filter((name) => name.endsWith('.eml'))
        .map((name) => readFile(join(folder, name), 'utf8')),
    );
    const [mail, ...others] = mails.filter((text) => text.includes(email));
    expect(others).toEqual([]);
    expect(mail).toContain('Subject: Receipt from Karoo Coffee: R 250.00');
    const link = page.getByRole('link', { name: 'Open the receipt to print it' });
    const receipt = await (await fetch((await link.getAttribute('href'))!)).text();
    expect(receipt).toContain('class="receipt');
  },
  TIMEOUT_MS,
);

it(
  'the page of a payment shows the answers of the merchant by itself, and keeps open what a person has opened',
  async () => {
    answer = 500;
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'support');
    await openPayment(page);
    await page.getByText('Session created').waitFor();
    await page.getByText(/^Attempts: \d+$/).click();
    await page.getByText(/Attempt 1: 500/).waitFor();
    answer = 200;
    await page.evaluate(async () => {
      const form = document.querySelector<HTMLFormElement>('form[action$="/resend"]')!;
      const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
      await fetch(form.action, { method: 'POST', body });
    });
    await page.getByText('Webhook delivered').waitFor();
    expect(await page.getByText(/Attempt 1: 500/).isVisible()).toBe(true);
  },
  TIMEOUT_MS,
);

it(
  'a refund of more than R 1 000 asks for a confirmation if the sign-in was more than ten minutes ago',
  async () => {
    answer = 200;
    const page = await browser.openPage();
    const { email, password, totp } = await browser.acceptInvitation(page, site, 'owner');
    await platform.sql(
      `UPDATE identity.person_sessions SET authenticated_at = authenticated_at - interval '10 minutes'
        WHERE person_id = (SELECT person_id FROM identity.people WHERE email = $1)`,
      [email],
    );
    const changedAt = performance.now();
    await openPayment(page, 150_000);
    await page.getByText('For more than R 1 000.00 you confirm with your second factor.').waitFor();
    // The console keeps a session for a second.
    while (performance.now() - changedAt < 1_500) await page.reload();
    await page.getByLabel('Amount in Rand').fill('1200.50');
    await page.getByLabel('Reason').fill('A box was damaged');
    await page.getByRole('button', { name: 'Give back' }).click();
    await page.getByText('For your safety, confirm that it is you.').waitFor();
    await page.getByLabel('Password').fill(password);
    // The code of the present step was used for the set-up.
    await page.getByLabel('Six-digit code').fill(totp.generate({ timestamp: Date.now() + TOTP_STEP_MS }));
    await page.getByRole('button', { name: 'Confirm', exact: true }).click();
    await page.getByText('Check the amount, enter the reason again').waitFor();
    await page.getByText('R 1 500.00 can still be given back.').waitFor();
    expect(await page.getByLabel('Amount in Rand').inputValue()).toBe('1200.50');
    await page.getByRole('button', { name: 'Give back' }).click();
    await page.getByText('R 1 200.50 was given back.').waitFor();
    await page.getByText('R 299.50 can still be given back.').waitFor();
  },
  TIMEOUT_MS,
);

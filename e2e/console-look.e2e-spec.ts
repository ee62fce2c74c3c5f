/** The page of a payment in the console shows changes by itself, and a large refund asks for a confirmation. */
import { randomInt } from 'node:crypto';
import { PATIENCE } from '@svc/testing';
import type { Page } from 'playwright-core';
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

/** Pays an order on the payment page, and opens its page in the console. */
async function openPayment(page: Page, amount = 25_000): Promise<void> {
  const order = `BOOKS-${randomInt(1e9)}`;
  const request = newSessionRequest(endpoint.url, { merchantOrderId: order, amount });
  const { redirectUrl } = await gatewayClient(platform, site).createSession(request);
  expect((await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl))).state).toBe(
    'succeeded',
  );
  await page.getByRole('link', { name: 'Payments', exact: true }).click();
  await page.getByRole('link', { name: order }).click();
  await page.getByRole('heading', { name: /^Payment / }).waitFor();
}

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

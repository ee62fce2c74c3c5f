/**
 * The people of a merchant in the console: an owner invites, a person joins and signs in with a passkey, roles change and
 * end, sensitive actions need a confirmation, and everything works with the keyboard alone.
 */
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Page } from 'playwright-core';
import { ConsoleBrowser } from './browser/console-browser.js';
import { gatewayClient, newSessionRequest, onboardMerchant } from './callers/merchant.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import type { MerchantSite, Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const TIMEOUT_MS = 180_000 * PATIENCE;
const UNUSED_URL = 'http://127.0.0.1:9/hook';
const STEP_MS = 30_000;

let platform: Platform;
let site: MerchantSite;
let browser: ConsoleBrowser;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  browser = await ConsoleBrowser.start(platform);
});
afterAll(() => browser?.stop());
beforeEach(async () => {
  site = await onboardMerchant(platform, 'Karoo Books');
});
afterEach(() => browser.closePages());

/** A device that stores passkeys, and whose person has always just used the fingerprint. */
async function addAuthenticator(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** The link in the mail to this address, which development writes into a file. */
function readLink(email: string): Promise<string> {
  const folder = join(platform.dataDir, 'mail');
  return waitUntil(`the mail to ${email}`, 20_000, async () => {
    const mails = readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll(/=\r?\n/g, ''))
      .filter((mail) => mail.includes(`To: ${email}`));
    return mails.map((mail) => /https?:\/\/\S+\/invitations\/[\w-]{43}/.exec(mail)?.[0]).find((link) => link);
  });
}

/** A change of another person is effective for one of the next pages: the console may keep a session for a second. */
async function reloadUntil(page: Page, isDone: () => Promise<boolean>): Promise<void> {
  for (let loads = 0; !(await isDone()); loads++) {
    expect(loads).toBeLessThan(200);
    await page.reload();
  }
}

/** The status of a page in the session of this browser, which is not shown: a refusal is an error of a page. */
async function readStatus(page: Page, path: string): Promise<number> {
  const [{ name, value } = { name: '', value: '' }] = await page.context().cookies();
  const userAgent = await page.evaluate(() => navigator.userAgent);
  const headers = { cookie: `${name}=${value}`, 'user-agent': userAgent };
  return (await fetch(`${platform.demo.consoleUrl}${path}`, { headers })).status;
}

/** As if the person had signed in eleven minutes ago. */
async function letConfirmationExpire(email: string): Promise<void> {
  await platform.sql(
    `UPDATE identity.person_sessions SET authenticated_at = authenticated_at - interval '11 minutes'
      WHERE person_id = (SELECT person_id FROM identity.people WHERE email = $1)`,
    [email],
  );
}

/** Moves the focus with the Tab key to the element with this text or label. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 100; presses++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      return element?.labels?.[0]?.textContent.trim() ?? element?.textContent.trim();
    });
    if (focused === name) return;
  }
  throw new Error(`The Tab key does not reach "${name}".`);
}

it(
  'support joins with a passkey only and signs in with it; the owner changes the role, and removes the person',
  async () => {
    const owner = await browser.openPage();
    await browser.acceptInvitation(owner, site, 'owner');
    await owner.getByRole('link', { name: 'Team' }).click();
    const email = `support-${randomInt(1e9)}@karoo.example`;
    await owner.getByLabel('E-mail').fill(email);
    await owner.getByLabel('Role').selectOption('support');
    await owner.getByRole('button', { name: 'Invite' }).dblclick();
    await owner.getByText('The invitation is on its way.').waitFor();
    await owner.getByText(email).waitFor();
    await browser.expectAccessible(owner, 'console-team');

    const support = await browser.openPage();
    await addAuthenticator(support);
    await support.goto(await readLink(email));
    await support.getByLabel('Your name').fill('Thandi Nkosi');
    await support.getByLabel('Choose a password').fill('a long password of Thandi');
    await support.getByRole('button', { name: 'Join' }).click();
    await support.getByRole('heading', { name: 'Protect your account' }).waitFor();
    await browser.expectAccessible(support, 'console-second-factor');
    expect(await support.getByText('This browser has no passkeys').isVisible()).toBe(false);
    await support.getByLabel('Name of the passkey').fill('My phone');
    await support.getByRole('button', { name: 'Create a passkey' }).click();
    await support.getByRole('heading', { name: /^Today/ }).waitFor();
    await support.getByRole('button', { name: 'Sign out' }).click();
    await support.getByText('You are signed out.').waitFor();
    await browser.expectAccessible(support, 'console-sign-in');
    await support.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await support.getByRole('heading', { name: /^Today/ }).waitFor();

    expect(await support.getByRole('link', { name: 'Team' }).count()).toBe(0);
    const { merchantId } = site.merchant;
    expect(await readStatus(support, `/${merchantId}/test/team`)).toBe(403);

    await support.getByRole('link', { name: 'Thandi Nkosi' }).click();
    await support.getByText('Passkey: My phone').waitFor();
    await support.getByText('This browser').waitFor();
    await browser.expectAccessible(support, 'console-account');

    await owner.reload();
    await owner.getByRole('link', { name: 'Thandi Nkosi' }).click();
    await owner.getByLabel('Role: All sites').selectOption('owner');
    await browser.expectAccessible(owner, 'console-person');
    await owner.getByRole('button', { name: 'Change the role' }).click();
    await owner.getByText('The role was changed.').waitFor();
    await support.goto(platform.demo.consoleUrl);
    await reloadUntil(support, async () => (await support.getByRole('link', { name: 'Team' }).count()) === 1);

    await owner.getByRole('link', { name: 'Thandi Nkosi' }).click();
    await owner.getByRole('button', { name: 'Remove from the merchant' }).click();
    await owner.getByText('The person was removed.').waitFor();
    await reloadUntil(support, async () => new URL(support.url()).pathname === '/sign-in');
  },
  TIMEOUT_MS,
);

it(
  'after ten minutes a sensitive action asks again, by password and code or by passkey, and then works',
  async () => {
    const page = await browser.openPage();
    await addAuthenticator(page);
    const { email, password, totp } = await browser.acceptInvitation(page, site, 'owner');
    await page.getByRole('link', { name: 'Team' }).click();
    const invite = async (): Promise<void> => {
      await page.getByLabel('E-mail').fill(`finance-${randomInt(1e9)}@karoo.example`);
      await page.getByRole('button', { name: 'Invite' }).click();
    };
    await letConfirmationExpire(email);
    await invite();
    await page.getByText('For your safety, confirm that it is you.').waitFor();
    await browser.expectAccessible(page, 'console-confirm');
    await page.getByLabel('Password').fill(password);
    // The code of this step set the app up, and each is accepted once.
    await page.getByLabel('Six-digit code').fill(totp.generate({ timestamp: Date.now() + STEP_MS }));
    await page.getByRole('button', { name: 'Confirm', exact: true }).click();
    await page.getByRole('heading', { name: 'Team' }).waitFor();
    await invite();
    await page.getByText('The invitation is on its way.').waitFor();

    await page.getByRole('link', { name: 'Lindiwe Dube' }).first().click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.getByLabel('Name of the passkey').fill('Laptop');
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByText('The passkey was added.').waitFor();
    await letConfirmationExpire(email);
    await page.getByRole('button', { name: 'Remove Authenticator app' }).click();
    await page.getByRole('button', { name: 'Confirm with a passkey' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await page.getByRole('button', { name: 'Remove Authenticator app' }).click();
    await page.getByText('The second factor was removed.').waitFor();
    await page.getByText('This is your only second factor.').waitFor();
  },
  TIMEOUT_MS,
);

it(
  'the keyboard alone leads from the sign-in to a payment',
  async () => {
    const page = await browser.openPage();
    const { email, password, totp } = await browser.acceptInvitation(page, site, 'support');
    const merchantOrderId = `BOOKS-${randomInt(1e9)}`;
    const request = newSessionRequest(UNUSED_URL, { merchantOrderId, amount: 12_300 });
    const { redirectUrl } = await gatewayClient(platform, site).createSession(request);
    await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));

    await tabTo(page, 'Sign out');
    await page.keyboard.press('Enter');
    await page.getByText('You are signed out.').waitFor();
    await tabTo(page, 'E-mail');
    await page.keyboard.type(email);
    await tabTo(page, 'Password');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
    await page.keyboard.type(totp.generate({ timestamp: Date.now() + STEP_MS }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Today/ }).waitFor();
    await tabTo(page, 'Payments');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: merchantOrderId }).waitFor();
    await tabTo(page, merchantOrderId);
    await page.keyboard.press('Enter');
    await page.getByText('R 123.00').first().waitFor();
    expect(page.url()).toMatch(/\/payments\/[\w-]+$/);
  },
  TIMEOUT_MS,
);

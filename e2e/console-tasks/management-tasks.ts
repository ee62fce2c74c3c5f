/** Tasks of developers and owners: deliveries, keys, the webhook, failed calls, the look and the team. */
import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SvcApiError } from '@svc/sdk';
import { letTimePass, waitUntil } from '@svc/testing';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { gatewayClient, newSessionRequest } from '../callers/merchant.js';
import { acceptInvitation } from './people.js';
import { reloadUntil, type Task } from './task.js';
import type { TaskMerchant } from './task-merchant.js';

const WAIT_MS = 20_000;
/** One test in five seconds is sent for a site. */
const TEST_INTERVAL_MS = 5_500;
const PREFIX_LENGTH = 'svc_test_site_123456'.length;

const callWith = ({ platform, site }: TaskMerchant, apiKey: string): Promise<unknown> =>
  gatewayClient(platform, { ...site, apiKey }).listNotifications();

const isRefused = (merchant: TaskMerchant, apiKey: string): Promise<boolean> =>
  callWith(merchant, apiKey).then(
    () => false,
    (error: unknown) => (error as SvcApiError).httpStatus === 401,
  );

/** The secret that the page shows once. */
async function readSecret(page: Page, merchant: TaskMerchant): Promise<string> {
  await page.getByText('Copy it now').waitFor();
  const secret = (await page.locator('.secret code').textContent())!;
  merchant.shownSecrets.push(secret);
  return secret;
}

async function drawLogo(): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-console-logo-')), 'logo.png');
  const background = { r: 10, g: 125, b: 79 };
  await sharp({ create: { width: 480, height: 160, channels: 3, background } })
    .png()
    .toFile(file);
  return file;
}

/** The payment page of a new session, as a payer gets it. */
async function readPaymentPage({ platform, site, server }: TaskMerchant): Promise<string> {
  const { redirectUrl } = await gatewayClient(platform, site).createSession(newSessionRequest(server.url));
  return (await fetch(redirectUrl)).text();
}

export const MANAGEMENT_TASKS: readonly Task[] = [
  {
    name: 'reads a delivery with its signature, and sends it again',
    roles: ['owner', 'support', 'developer'],
    rights: ['deliveries.read', 'deliveries.resend'],
    path: () => '/developers',
    expectDone: async ({ page, start }, merchant) => {
      const { order, paymentReference } = await merchant.pay(25_000);
      await page.goto(`${start}/developers?site=${merchant.site.siteId}`);
      const row = page.getByRole('row', { name: paymentReference }).filter({ hasText: 'Delivered' });
      await reloadUntil(page, row);
      await merchant.expectAccessible(page, 'console-developers-deliveries');
      await row.getByRole('link').first().click();
      await page.getByText('webhook-signature: v1,').waitFor();
      await merchant.expectAccessible(page, 'console-developers-delivery');
      expect(merchant.server.count(order)).toBe(1);
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('The webhook is being sent again.').waitFor();
      await waitUntil('the webhook to arrive again', WAIT_MS, () =>
        Promise.resolve(merchant.server.count(order) === 2),
      );
    },
  },
  {
    name: 'creates, replaces and ends an API key, which works until then and is shown once',
    roles: ['owner', 'developer'],
    rights: ['keys.read', 'keys.manage'],
    path: () => '/developers/keys',
    expectDone: async ({ page, start }, merchant) => {
      await page.goto(`${start}/developers/keys?site=${merchant.site.siteId}`);
      await page.getByRole('button', { name: 'Create an API key' }).click();
      const created = await readSecret(page, merchant);
      await waitUntil('the created key to work', WAIT_MS, () => callWith(merchant, created));
      const row = page.getByRole('row', { name: created.slice(0, PREFIX_LENGTH) });
      await row.getByText('Replace or end').click();
      await row.getByLabel('The old one ends after').selectOption('1 hour');
      await row.getByRole('button', { name: 'Replace' }).click();
      await row.getByText('Valid until').waitFor();
      const replacement = await readSecret(page, merchant);
      await merchant.expectAccessible(page, 'console-developers-key-shown');
      await waitUntil('the new key to work', WAIT_MS, () => callWith(merchant, replacement));
      await callWith(merchant, created);
      await page.getByRole('link', { name: 'I have stored it' }).click();
      await page.getByText('Copy it now').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(replacement);
      await merchant.expectAccessible(page, 'console-developers-keys');
      await row.getByText('Replace or end').click();
      await row.getByRole('button', { name: 'End it now' }).click();
      await page.getByText('It has ended.').waitFor();
      await waitUntil('the old key to end', WAIT_MS, () => isRefused(merchant, created));
      await callWith(merchant, replacement);
    },
  },
  {
    name: 'finds a failed call',
    roles: ['owner', 'developer'],
    rights: ['keys.read'],
    path: () => '/developers/calls',
    expectDone: async ({ page, start }, { site: { merchant, siteId } }) => {
      await page.goto(`${start}/developers/calls`);
      // The site was on-boarded with calls of this kind.
      const call = `GET /business/api/v1/merchants/${merchant.merchantId}/sites/${siteId}/invoices/`;
      const row = page.getByRole('row', { name: call }).filter({ hasText: 'resource.not-found' });
      await reloadUntil(page, row.first());
    },
  },
  {
    name: 'sees the look of the payment page',
    roles: ['owner', 'finance', 'developer'],
    rights: ['settings.read'],
    path: () => '/look',
    expectDone: async ({ page, start }) => {
      await page.goto(`${start}/look`);
      await page.frameLocator('iframe').locator('#pay-button').waitFor();
    },
  },
  {
    name: 'changes the look, with a preview before payers see it',
    roles: ['owner'],
    rights: ['settings.manage'],
    isOfMerchant: true,
    path: () => '/look',
    control: (page) => page.getByRole('button', { name: 'Save' }),
    expectDone: async ({ page, start }, merchant) => {
      await page.goto(`${start}/look`);
      await page.getByLabel('Name on the page').fill('Protea & Co');
      await page.getByLabel('Use a colour of our own').check();
      await page.getByLabel('Colour', { exact: true }).fill('#ffcc00');
      await page.getByLabel('Logo: PNG').setInputFiles(await drawLogo());
      await page.getByRole('button', { name: 'Show preview' }).click();
      await page.getByText('This is a preview. Nothing is saved yet.').waitFor();
      const frame = page.frameLocator('iframe');
      await frame.getByRole('img', { name: 'Protea & Co', includeHidden: true }).waitFor();
      const button = frame.locator('#pay-button');
      expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(255, 204, 0)');
      expect(await readPaymentPage(merchant)).not.toContain('Protea');
      // A browser draws a frame only after it was in view.
      await page.locator('iframe').scrollIntoViewIfNeeded();
      await merchant.expectAccessible(page, 'console-look');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved. Payers see it within a few seconds.').waitFor();
      await waitUntil('the look on the payment page', WAIT_MS, async () => {
        const html = await readPaymentPage(merchant);
        return html.includes('Protea &amp; Co') && /src="\/looks\/[0-9a-f]{32}\.png"/.test(html);
      });
    },
  },
  {
    name: 'invites a person, changes the role and removes the person',
    roles: ['owner'],
    rights: ['people.read', 'people.manage'],
    path: () => '/team',
    expectDone: async ({ page, start }, merchant) => {
      const name = `Thandi ${randomInt(1e9)}`;
      const email = `support-${randomInt(1e9)}@karoo.example`;
      await page.goto(`${start}/team`);
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Role').selectOption('support');
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByText('The invitation is on its way.').waitFor();
      const link = /https?:\/\/\S+\/invitations\/[\w-]{43}/.exec(await merchant.readMail(email))![0];
      await acceptInvitation(await merchant.browser.openPage(), link, name);
      await page.reload();
      await page.getByRole('link', { name }).click();
      await page.getByLabel(/^Role: /).selectOption('finance');
      await page.getByRole('button', { name: 'Change the role' }).click();
      await page.getByText('The role was changed.').waitFor();
      await page.getByRole('link', { name }).click();
      await page
        .getByRole('button', { name: /^Remove from / })
        .first()
        .click();
      await page.getByText('The person was removed.').waitFor();
    },
  },
  // The last task, because the site receives webhooks afterwards.
  {
    name: 'sets the address of the webhook, and sends a test',
    roles: ['owner', 'developer'],
    rights: ['webhooks.manage'],
    path: () => '/developers/webhook',
    expectDone: async ({ siteId: ownSiteId, page, start }, { platform, otherSite, server, testedAt }) => {
      // Less waiting for the limit below: people of all sites use the other site.
      const siteId = ownSiteId ?? otherSite.siteId;
      await page.goto(`${start}/developers/webhook?site=${siteId}`);
      await page.getByLabel('Address (https)').fill(server.url);
      await page.getByLabel('Send webhooks to this address').check();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('The webhook was saved.').waitFor();
      const known = `SELECT FROM webhook_dispatcher.sites WHERE site_id = $1 AND webhook_url = $2`;
      await waitUntil('webhook-dispatcher to know the address', WAIT_MS, async () => {
        return (await platform.sql(known, [siteId, server.url])).length > 0;
      });
      const before = server.count('"type":"test"');
      await letTimePass(Math.max(0, (testedAt.get(siteId) ?? 0) + TEST_INTERVAL_MS - Date.now()));
      await page.getByRole('button', { name: 'Send a test now' }).click();
      await page.getByText('Your server answered 200: the test arrived.').waitFor();
      testedAt.set(siteId, Date.now());
      expect(server.count('"type":"test"')).toBe(before + 1);
    },
  },
];

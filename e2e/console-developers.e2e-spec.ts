/**
 * The pages for developers of the console: a webhook secret that is replaced with an overlap, a test of the webhook, which
 * both secrets sign, and failed calls of several services.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type SvcApiError, verifySiteWebhook, verifyWebhook } from '@svc/sdk';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Locator, Page } from 'playwright-core';
import { ConsoleBrowser } from './browser/console-browser.js';
import { gatewayClient, onboardMerchant } from './callers/merchant.js';
import { scanFiles } from './consistency/card-scan.js';
import type { MerchantSite, Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const TIMEOUT_MS = 180_000 * PATIENCE;
const WAIT_MS = 20_000;

let platform: Platform;
let site: MerchantSite;
let browser: ConsoleBrowser;
let server: Server;
let address: string;
/** The requests that the merchant's server got. */
const received: { headers: IncomingHttpHeaders; rawBody: string }[] = [];
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  site = await onboardMerchant(platform, 'Fynbos Flowers');
  browser = await ConsoleBrowser.start(platform);
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, rawBody: Buffer.concat(chunks).toString() });
      response.end('thanks');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
});
afterAll(async () => {
  await browser?.stop();
  server?.close();
  server?.closeAllConnections();
});
afterEach(() => browser.closePages());

/** A page that has just been shown may not yet have what happened in another service. */
async function reloadUntil(page: Page, text: Locator): Promise<void> {
  for (let loads = 0; !(await text.isVisible()); loads++) {
    expect(loads).toBeLessThan(100);
    await page.reload();
  }
}

async function openSection(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Developers' }).getByRole('link', { name }).click();
}

/** Replaces a credential, whose name is in the list, and returns the new secret. */
async function replace(page: Page, name: string): Promise<string> {
  const row = page.getByRole('row', { name });
  await row.getByText('Replace or end').click();
  await row.getByLabel('The old one ends after').selectOption('1 hour');
  await row.getByRole('button', { name: 'Replace' }).click();
  await page.getByText('Copy it now').waitFor();
  return (await page.locator('.secret code').textContent())!;
}

it(
  'a developer sets the webhook, replaces its secret and sends a test, which the merchant verifies and takes for no payment',
  async () => {
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'developer');
    await page.getByRole('link', { name: 'Developers', exact: true }).click();
    await openSection(page, 'Keys and secrets');
    await page.getByRole('heading', { name: 'Webhook secrets' }).waitFor();
    const secrets = page.getByRole('table', { name: 'Webhook secrets' });
    const name = (await secrets.locator('code').first().textContent())!;
    const secret = await replace(page, name);
    expect(secret).toMatch(/^whsec_/);

    await openSection(page, 'Webhook');
    await page.getByLabel('Address (https)').fill(address);
    await page.getByLabel('Send webhooks to this address').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The webhook was saved.').waitFor();
    await waitUntil('webhook-dispatcher to know the address', WAIT_MS, async () => {
      const sites = `SELECT 1 FROM webhook_dispatcher.sites WHERE site_id = $1 AND webhook_url = $2`;
      return (await platform.sql(sites, [site.siteId, address])).length > 0;
    });
    await page.getByRole('button', { name: 'Send a test now' }).click();
    await page.getByText('Your server answered 200: the test arrived.').waitFor();
    await browser.expectAccessible(page, 'console-developers-webhook');

    const [test] = received;
    expect(JSON.parse(test!.rawBody)).toMatchObject({ type: 'test', siteId: site.siteId, mode: 'test' });
    for (const valid of [secret, site.webhookSecret])
      expect(verifySiteWebhook({ ...test!, secret: valid })).toBeUndefined();
    expect(() => verifySiteWebhook({ ...test!, secret: `whsec_${Buffer.alloc(32).toString('base64')}` })).toThrow(
      expect.objectContaining({ code: 'bad-signature' }),
    );
    expect(() => verifyWebhook({ ...test!, secret })).toThrow(expect.objectContaining({ code: 'bad-body' }));
    expect(scanFiles(join(platform.dataDir, 'log'), [secret])).toEqual([]);
  },
  TIMEOUT_MS,
);

it(
  'a failed call appears with its error code and request id',
  async () => {
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'developer');
    const failed = await gatewayClient(platform, site)
      .webhooks.deliveries.get(randomUUID())
      .then(
        () => undefined,
        (error: unknown) => error as SvcApiError,
      );
    expect(failed).toMatchObject({ httpStatus: 404 });
    await page.getByRole('link', { name: 'Developers', exact: true }).click();
    await openSection(page, 'Failed calls');
    await reloadUntil(page, page.getByText(failed!.requestId!));
    const row = page.getByRole('row', { name: /GET \/api\/v3\.1\/deliveries\// });
    expect(await row.first().textContent()).toContain('resource.not-found');
    // The merchant was on-boarded with calls of these two kinds, to payment-processor and code-decoder.
    const { merchantId } = site.merchant;
    for (const [call, code] of [
      [`POST /business/api/v1/merchants/${merchantId}/refunds`, 'request.invalid'],
      [`GET /business/api/v1/merchants/${merchantId}/sites/${site.siteId}/invoices/`, 'resource.not-found'],
    ] as const)
      await page.getByRole('row', { name: call }).filter({ hasText: code }).first().waitFor();
    await browser.expectAccessible(page, 'console-developers-calls');
  },
  TIMEOUT_MS,
);

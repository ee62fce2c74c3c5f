/**
 * A phone uses a platform that was started with `./svc up --lan`: over HTTPS on this machine's network address, with a
 * self-signed certificate. The tests run on both deployments. Between them, the platform runs without `--lan`.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { PATIENCE } from '@svc/testing';
import { type Browser, type BrowserContext, devices, type Page } from 'playwright-core';
import {
  checkOutCoffee,
  closeContext,
  fillCard,
  holdReturn,
  payButton,
  recordPageErrors,
  screenshot,
  startBrowser,
  waitForHeading,
  waitForUrl,
} from './browser/browser.js';
import { Platform } from './platform/platform.js';

let platform: Platform;
beforeAll(async () => {
  platform = await Platform.start('lan', {}, 'distributed', ['--lan']);
});
afterAll(() => platform?.stop());

testOnNetwork('a process for each service, over RabbitMQ', 'lan-distributed');

it('a platform without --lan listens only on this machine, and keeps its certificate for the next start with --lan', async () => {
  const onNetwork = platform.demo;
  const key = readFileSync(keyFile(), 'utf8');
  await platform.switchTo('embedded', []);
  const { apiUrl, gatewayUrl, shopUrl, certificateFile } = platform.demo;
  for (const url of [apiUrl, gatewayUrl, shopUrl]) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(certificateFile).toBeUndefined();
  const socket = connect(Number(new URL(shopUrl).port), new URL(onNetwork.shopUrl).hostname);
  await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

  await platform.switchTo('embedded', ['--lan']);
  expect(platform.demo).toEqual(onNetwork);
  expect(readFileSync(keyFile(), 'utf8')).toBe(key);
});

testOnNetwork('all services in one process', 'lan');

function keyFile(): string {
  return join(platform.dataDir, 'tls', 'key.pem');
}

/** @param name a part of the names of the pictures */
function testOnNetwork(deployment: string, name: string): void {
  describe(`a platform on the network, with ${deployment}`, () => {
    let browser: Browser;
    let context: BrowserContext;
    let pageErrors: string[] = [];
    let page: Page;
    let address: string;
    let certificate: X509Certificate;

    beforeAll(async () => {
      certificate = new X509Certificate(readFileSync(platform.demo.certificateFile!));
      address = new URL(platform.demo.shopUrl).hostname;
      // The browser trusts only this key, like a phone whose user has compared the fingerprint of the certificate.
      const key = createHash('sha256').update(certificate.publicKey.export({ type: 'spki', format: 'der' }));
      browser = await startBrowser(`--ignore-certificate-errors-spki-list=${key.digest('base64')}`);
    });
    afterAll(async () => {
      await browser?.close();
    });

    beforeEach(async () => {
      context = await browser.newContext({ ...devices['Pixel 7'], locale: 'en-ZA' });
      pageErrors = recordPageErrors(context);
      page = await context.newPage();
    });
    afterEach(async () => {
      await closeContext(context);
      expect(pageErrors).toEqual([]);
    });

    const checkOut = async (): Promise<void> => {
      await page.goto(platform.demo.shopUrl);
      await checkOutCoffee(page);
      await waitForUrl(
        page,
        'the payment page',
        (url) => url.origin === platform.demo.gatewayUrl && url.pathname === '/pay',
      );
      await waitForHeading(page, 'Pay by card');
    };
    const seesOrderPaid = async (): Promise<void> => {
      await waitForUrl(page, 'the shop', (url) => url.origin === platform.demo.shopUrl);
      await page.locator('#order-state[data-state="paid"]').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
    };
    /** Returns the status of the answer, or the error. The request trusts only the certificate in `ca`. */
    const statusOf = async (url: string, ca: string | undefined = certificate.toString()): Promise<number | string> => {
      const request = get(url, { ca });
      try {
        const [answer] = (await once(request, 'response')) as [IncomingMessage];
        answer.destroy();
        return answer.statusCode ?? 0;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? String(error);
      }
    };
    const portOf = (url: string): number => Number(new URL(url).port);
    const deployment = (): string[] => (platform.mode === 'distributed' ? ['--distributed'] : []);

    it('gives out only addresses that other machines can reach', async () => {
      const own = Object.values(networkInterfaces()).flatMap((infos) => infos ?? []);
      expect(own.find((info) => info.address === address)?.internal).toBe(false);
      const { apiUrl, gatewayUrl, shopUrl, adminUrl } = platform.demo;
      for (const url of [apiUrl, gatewayUrl, shopUrl]) expect(url).toMatch(new RegExp(`^https://${address}:\\d+$`));
      for (const url of [apiUrl, gatewayUrl]) expect(await statusOf(`${url}/health/live`)).toBe(200);
      expect(new URL(adminUrl).hostname).toBe('127.0.0.1');
      expect(certificate.checkIP(address)).toBe(address);
      expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
    });

    it('accepts a payment from a phone, in a secure context, so that the page can encrypt the card', async () => {
      const allowReturn = await holdReturn(page, platform.demo.shopUrl);
      await checkOut();
      expect(await page.evaluate(() => window.isSecureContext)).toBe(true);
      await fillCard(page, '4242 4242 4242 4242');
      await screenshot(page, `${name}-1-payment-page`);
      await payButton(page).click();
      await waitForHeading(page, 'Payment successful');
      await allowReturn();
      // The platform's webhook, not the page, reports the payment to the shop.
      await seesOrderPaid();
      await screenshot(page, `${name}-2-order-paid`);
    });

    it("leads the payer to the bank's page and back", async () => {
      await checkOut();
      await fillCard(page, '4000 0000 0000 3220');
      await payButton(page).click();
      await waitForHeading(page, 'Is this payment yours?');
      expect(new URL(page.url()).hostname).toBe(address);
      expect(new URL(page.url()).protocol).toBe('https:');
      await page.getByRole('button', { name: 'Confirm the payment' }).click();
      await seesOrderPaid();
    });

    it('is refused by a browser that does not know its certificate, and sends no HSTS header', async () => {
      expect(await statusOf(platform.demo.shopUrl, '')).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
      const stranger = await startBrowser();
      try {
        const strangersPage = await stranger.newPage();
        await expect(strangersPage.goto(platform.demo.shopUrl)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
      } finally {
        await stranger.close();
      }
      const answer = await page.request.get(`${platform.demo.gatewayUrl}/health/live`, { ignoreHTTPSErrors: true });
      expect(answer.status()).toBe(200);
      expect(answer.headers()).not.toHaveProperty('strict-transport-security');
    });

    it('exposes neither administration nor internal ports to the network', async () => {
      const { adminUrl, apiUrl } = platform.demo;
      const first = portOf(apiUrl);
      // PostgreSQL listens on the first port + 32, the services on the first port + 10 to 16.
      for (const port of [
        portOf(adminUrl),
        first + 32,
        ...[10, 11, 12, 13, 14, 15, 16].map((offset) => first + offset),
      ]) {
        const socket = connect(port, address);
        await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      }
      for (const path of ['/admin/v1/merchants', '/admin/v1/organisations'])
        expect(await statusOf(`${apiUrl}${path}`)).toBe(404);
      // Access to the acquirer's API would allow charges, so only the acquirer's page for payers is reachable.
      const bank = `https://${address}:${first + 4}`;
      expect(await statusOf(`${bank}/challenges/nobody`)).toBe(404);
      expect(await statusOf(`${bank}/charges/nobody`)).toBe(404);
      const posted = await context.request.post(`${bank}/cards`, {
        data: { cardNumber: '4242424242424242' },
        ignoreHTTPSErrors: true,
      });
      expect(posted.status()).toBe(404);
    });

    it('serves the till and its customer display to other computers that have the till’s key', async () => {
      const { transformerUrl, transformerApiKey } = platform.demo;
      expect(transformerUrl).toMatch(new RegExp(`^http://${address}:\\d+$`));
      const { siteId } = platform.site(0, 1);
      // Plain HTTP: a browser ignores the headers that need HTTPS, and logs a warning.
      const device = await browser.newContext();
      const [display, till] = [await device.newPage(), await device.newPage()];
      await display.goto(`${transformerUrl}/display/${siteId}#key=${transformerApiKey}`);
      await waitForHeading(display, 'Welcome');
      await till.goto(`${transformerUrl}/till/${siteId}#key=${transformerApiKey}`);
      await till.getByRole('button', { name: 'Add line' }).click();
      await display.getByRole('cell', { name: 'Rooibos cappuccino' }).waitFor();
      await till.getByRole('button', { name: 'Reset' }).click();
      await waitForHeading(display, 'Welcome');
      await device.close();
      expect((await fetch(`${transformerUrl}/till/${siteId}/state`)).status).toBe(401);
      const socket = connect(portOf(transformerUrl), '127.0.0.1');
      await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    });

    it('reports in ./svc status that the till transformer is down, and restarts it with ./svc up', async () => {
      const file = join(platform.dataDir, 'run', 'transformer.json');
      const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
      await platform.kill(pid);
      const down = await platform.svc('status');
      expect(down).toMatchObject({
        code: 1,
        output: expect.stringMatching(/till transformer .* down: the same .\/svc up/),
      });
      await platform.svc('up', '-d', ...deployment(), '--lan');
      const again = await platform.svc('status');
      expect(again).toMatchObject({ code: 0, output: expect.stringMatching(/till transformer .* answers/) });
    });

    it('shows its address, and refuses a second start with other options', async () => {
      const status = await platform.svc('status');
      expect(status.code).toBe(0);
      for (const url of [platform.demo.shopUrl, platform.demo.gatewayUrl, platform.demo.apiUrl])
        expect(status.output).toMatch(new RegExp(`${url} +answers`));

      const options = ['-d', ...deployment()];
      const again = await platform.svc('up', ...options, '--lan');
      expect(again).toMatchObject({ code: 0, output: expect.stringContaining('already running') });
      expect(again.output).toContain(certificate.fingerprint256);
      const alone = await platform.svc('up', ...options);
      expect(alone).toMatchObject({
        code: 1,
        output: expect.stringMatching(`on the network as well, at ${address}; ./svc down first`),
      });
      const elsewhere = await platform.svc('up', ...options, '--lan=192.0.2.254');
      expect(elsewhere).toMatchObject({ code: 2, output: expect.stringContaining(`--lan takes ${address}`) });
    });
  });
}

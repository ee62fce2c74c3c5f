/**
 * The dashboards of `./svc up --observe` while payers pay at a steady rate, and pictures of them for deploy/observability/README.md:
 * `./svc npm run drill -- dashboards`.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { MerchantClient } from '@svc/sdk';
import { letTimePass } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { startBrowser } from './browser/browser.js';
import { ADYEN_APPROVED, ADYEN_CARD, AdyenEmulator } from './callers/adyen-emulator.js';
import { createSessions, gatewayClient } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { callTillApi } from './callers/till.js';
import { Platform, ROOT } from './platform/platform.js';

const LOAD_MS = 6 * 60_000;
const SALES_PER_SECOND = 3;
const SPACES = /\s/g;
/** Panels that may have no data. The payers of this drill request no receipts by e-mail, and no service fails. */
const MAY_BE_EMPTY = ['E-mails', 'Broker: refused types', 'Statements over a second'];

let platform: Platform;
let endpoint: MerchantEndpoint;
let browser: Browser;
beforeAll(async () => {
  platform = await Platform.start('dashboards', {}, 'distributed', ['--acquirer', 'adyen-emulator', '--observe']);
  let deliveries = 0;
  // One attempt of twenty fails, so the webhook is sent again.
  endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () =>
    deliveries++ % 20 === 19 ? 503 : 200,
  );
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  await endpoint?.stop();
});

/** A payer who opens the page and pays. One of eight is declined; of those who paid, one of ten gets some money back. */
async function sell(nth: number): Promise<void> {
  const { gatewayUrl, apiUrl } = platform.demo;
  const [session] = await createSessions(gatewayClient(platform), 1, endpoint.url);
  const holderName = nth % 8 === 7 ? 'DECLINED' : 'Thandi Nkosi';
  const card = { cvv: ADYEN_CARD.cvv, expiryMonth: 3, expiryYear: 2030, holderName };
  const request = await preparePayRequest(session!.redirectUrl, ADYEN_APPROVED.replaceAll(SPACES, ''), card);
  const { state } = await sendPayRequest(gatewayUrl, request);
  await callTillApi(platform, 'GET', '/payments?externalReference=none', 'application/json');
  if (state !== 'succeeded' || nth % 10 !== 0) return;
  const [{ reference }] = (await platform.sql<{ reference: string }>(
    `SELECT payment_reference AS reference FROM payment_processor.payments WHERE payable_id = $1`,
    [request.sessionId],
  )) as [{ reference: string }];
  await new AdyenEmulator(platform.adyenEmulatorUrl).captured(reference);
  const { merchantId, apiKey } = platform.site(0, 0).merchant;
  const client = new MerchantClient({ apiUrl, merchantId, apiKey, timeoutMs: 60_000 });
  await client.refund(reference, {
    idempotencyKey: randomUUID(),
    amount: 1_000,
  });
}

it(
  'each dashboard shows the load',
  async () => {
    const sales: Promise<void>[] = [];
    const failures: unknown[] = [];
    for (const until = Date.now() + LOAD_MS; Date.now() < until;) {
      sales.push(sell(sales.length).catch((error: unknown) => void failures.push(error)));
      await letTimePass(1_000 / SALES_PER_SECOND);
    }
    await Promise.all(sales);
    expect(failures).toEqual([]);

    const page = await browser.newPage({ viewport: { width: 1_320, height: 900 } });
    const empty: string[] = [];
    for (const name of ['payments', 'webhooks', 'messaging', 'service']) {
      await page.goto(`${platform.dashboardsUrl}/${name}?minutes=15`);
      empty.push(...(await page.locator('figure', { hasText: 'no data' }).locator('figcaption').allInnerTexts()));
      await page.screenshot({ path: join(ROOT, `docs/images/dashboard-${name}.png`), fullPage: true });
    }
    expect(empty.filter((title) => !MAY_BE_EMPTY.includes(title))).toEqual([]);
  },
  2 * LOAD_MS,
);

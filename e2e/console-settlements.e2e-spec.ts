/**
 * The money of a day in the console, with the emulator of Adyen: payments, a refund and a dispute add up to what is owed
 * to the merchant, on the pages, in the file and in the merchant's API, until the acquirer has settled everything.
 */
import { randomInt } from 'node:crypto';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Page } from 'playwright-core';
import { ConsoleBrowser } from './browser/console-browser.js';
import { ADYEN_APPROVED, AdyenEmulator } from './callers/adyen-emulator.js';
import { gatewayClient, newSessionRequest, onboardMerchant } from './callers/merchant.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { type MerchantSite, Platform } from './platform/platform.js';

const TIMEOUT_MS = 240_000 * PATIENCE;
/** The merchant account of the emulator. */
const ACCOUNT = 'SvcDemo';
const ADYEN_CARD = { cvv: '737', expiryMonth: 3, expiryYear: 2030 };

/** Cents. The fee of a payment is 2.9 % and R 1.50: R 4.40, R 8.76 and R 13.10. */
const AMOUNTS = [10_000, 25_050, 40_000] as const;
const [SALES, REFUND, DISPUTE, FEES] = [75_050, 4_000, 40_000, 440 + 876 + 1_310];
const NET = SALES - REFUND - DISPUTE - FEES;

let platform: Platform;
let emulator: AdyenEmulator;
let site: MerchantSite;
let browser: ConsoleBrowser;
beforeAll(async () => {
  platform = await Platform.start('console-settlements', {}, 'embedded', ['--acquirer', 'adyen-emulator']);
  emulator = new AdyenEmulator(platform.adyenEmulatorUrl);
  site = await onboardMerchant(platform, 'Karoo Books');
  const { merchantId } = site.merchant;
  await admin('merchants', 'fee', String(merchantId), '290', '150');
  await admin('merchant-accounts', 'set', String(merchantId), ACCOUNT, '--acquirer', 'adyen');
  await waitUntil('payment-processor to know the fee', 20_000, async () => {
    const rows = await platform.sql(
      `SELECT FROM payment_processor.known_merchants WHERE merchant_id = $1 AND fees #>> '{test,basisPoints}' = '290'`,
      [merchantId],
    );
    return rows.length === 1;
  });
  browser = await ConsoleBrowser.start(platform);
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.stop();
  await platform?.stop();
});
afterEach(() => browser.closePages());

async function admin(...args: string[]): Promise<void> {
  const { code, output } = await platform.svc('admin', ...args);
  expect([code, output]).toEqual([0, output]);
}

/** Pays an order, and waits until Adyen has captured it. */
async function payOrder(amount: number): Promise<{ order: string; paymentReference: string }> {
  const order = `BOOKS-${randomInt(1e9)}`;
  const request = newSessionRequest('http://127.0.0.1:9/hook', { merchantOrderId: order, amount });
  const { redirectUrl } = await gatewayClient(platform, site).createSession(request);
  const { state } = await sendPayRequest(
    platform.demo.gatewayUrl,
    await preparePayRequest(redirectUrl, ADYEN_APPROVED.replaceAll(' ', ''), ADYEN_CARD),
  );
  expect(state).toBe('succeeded');
  const paymentReference = await waitUntil('the confirmation of the capture', 30_000, async () => {
    const [row] = await platform.sql<{ reference: string }>(
      `SELECT p.payment_reference AS reference FROM payment_processor.captures c JOIN payment_processor.payments p USING (payment_id)
         JOIN payment_processor.payables y USING (payable_id)
        WHERE y.source ->> 'merchantOrderId' = $1 AND c.state = 'captured'`,
      [order],
    );
    return row?.reference ?? false;
  });
  return { order, paymentReference };
}

const openSection = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name, exact: true }).click();

/** `−R 1 234.56` in cents. */
function parseAmount(text: string): number {
  const cents = Number(text.replace(/[^\d]/g, ''));
  return text.trim().startsWith('−') ? -cents : cents;
}

/** The month of the merchant, such as `2026-11`. */
const monthOf = (time: Date): string =>
  time.toLocaleDateString('sv-SE', { timeZone: 'Africa/Johannesburg' }).slice(0, 'YYYY-MM'.length);

/** The amount of a row of the table of the balance. */
async function readAmount(page: Page, name: string): Promise<number> {
  const row = page.getByRole('table', { name: 'Your balance' }).getByRole('row', { name: new RegExp(`^${name}`) });
  return parseAmount(await row.getByRole('cell').last().innerText());
}

/** Loads the page until its table of the balance has this amount, because events and reports arrive later. */
async function reloadUntil(page: Page, name: string, amount: number): Promise<void> {
  await waitUntil(`${name} to be ${amount}`, 60_000, async () => {
    await page.reload();
    return (await readAmount(page, name)) === amount;
  });
}

it(
  'the payments, the refund and the dispute of a day add up, on every page and in the file, until all is settled',
  async () => {
    const begunAt = new Date();
    const paid: Awaited<ReturnType<typeof payOrder>>[] = [];
    for (const amount of AMOUNTS) paid.push(await payOrder(amount));
    const page = await browser.openPage();
    await browser.acceptInvitation(page, site, 'finance');
    const start = page.url().replace(/\/$/, '');

    await page.goto(`${start}/payments/${paid[0]!.paymentReference}`);
    await page.getByLabel('Amount in Rand').fill('40.00');
    await page.getByRole('button', { name: 'Give back' }).click();
    await page.getByText(/R\s40\.00 was given back\.|The refund of R\s40\.00 was sent\./).waitFor();
    await emulator.dispute(await emulator.captured(paid[2]!.paymentReference), 'CHARGEBACK');

    await openSection(page, 'Settlements');
    await reloadUntil(page, 'Owed to you at the end', NET);
    await browser.expectAccessible(page, 'console-settlements');

    // A midnight may pass during the test, so the movements can be on two days, and in two months.
    const months = [...new Set([begunAt, new Date()].map(monthOf))];
    const read = {
      onTheWay: 0,
      days: [] as number[][],
      links: [] as string[],
      fileCents: [] as number[],
      movements: [] as string[],
    };
    for (const month of months) {
      await page.goto(`${start}/settlements?month=${month}`);
      // Adyen has settled nothing yet. The fees are those of the platform.
      read.onTheWay += await readAmount(page, 'Of this period, on the way');
      for (const row of await page.getByRole('table', { name: 'Days with movements' }).locator('tbody tr').all()) {
        read.days.push((await row.locator('td.number').allInnerTexts()).map(parseAmount));
        read.links.push((await row.getByRole('link').getAttribute('href'))!);
      }
      const file = (await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href'))!;
      const lines = (await page.evaluate(async (path) => (await fetch(path)).text(), file)).trim().split('\r\n');
      read.fileCents.push(...lines.slice(1).map((line) => Number(line.split(',').at(-1))));
    }
    for (const link of read.links) {
      await page.goto(new URL(link, start).href);
      for (const row of await page.getByRole('table', { name: 'Movements of the day' }).locator('tbody tr').all())
        read.movements.push(
          (await row.getByRole('cell').allInnerTexts()).slice(1).join(' | ').replaceAll('\u00a0', ' '),
        );
    }
    const total = (amounts: readonly number[]): number => amounts.reduce((sum, cents) => sum + cents, 0);
    expect(read.onTheWay).toBe(SALES - REFUND - DISPUTE);
    expect([0, 1, 2, 3, 4].map((nth) => total(read.days.map((columns) => columns[nth]!)))).toEqual([
      ...[SALES, -REFUND, -DISPUTE, -FEES, NET],
    ]);
    expect([read.fileCents.length, total(read.fileCents)]).toEqual([8, NET]);
    const line = (kind: string, nth: number, amount: string): string => `${kind} | ${paid[nth]!.order} | ${amount}`;
    expect(read.movements.toSorted()).toEqual(
      [
        ...[
          line('Card payment', 0, 'R 100.00'),
          line('Card payment', 1, 'R 250.50'),
          line('Card payment', 2, 'R 400.00'),
        ],
        ...[line('Fee', 0, '−R 4.40'), line('Fee', 1, '−R 8.76'), line('Fee', 2, '−R 13.10')],
        ...[line('Refund', 0, '−R 40.00'), line('Disputed amount deducted', 2, '−R 400.00')],
      ].toSorted(),
    );
    await browser.expectAccessible(page, 'console-settlement-day');
    await page.getByRole('link', { name: paid[2]!.order }).first().click();
    await page.getByText('Dispute: amount deducted, R 400.00').waitFor();

    await emulator.closeBatch(ACCOUNT);
    await openSection(page, 'Settlements');
    await waitUntil('everything to be settled', 60_000, async () => {
      await page.reload();
      return !(await page.getByText('Of this period, on the way').isVisible());
    });
    expect(await readAmount(page, 'Owed to you at the end')).toBe(NET);

    await openSection(page, 'Today');
    await page.getByRole('link', { name: /^1 dispute to answer, by / }).click();
    const dispute = page.getByRole('table', { name: 'Open disputes, the nearest deadline first' }).locator('tbody tr');
    expect((await dispute.innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(`1[78] days left ${paid[2]!.order} .*Other Fraud-Card Absent Environment amount deducted R 400\\.00$`),
    );
    await browser.expectAccessible(page, 'console-disputes');
  },
  TIMEOUT_MS,
);

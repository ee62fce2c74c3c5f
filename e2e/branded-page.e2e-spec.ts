/**
 * A merchant's look on the payment page, from the commands of its administrator to the receipt in the payer's mailbox.
 * The platform has a real SMTP server. With SVC_DOCS_PICTURES=1 the test writes pictures to docs/pages.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SmtpInbox, waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import sharp from 'sharp';
import {
  axeFindings,
  closeContext,
  fillCard,
  holdReturn,
  payButton,
  recordPageErrors,
  screenshot,
  scrollsSideways,
  startBrowser,
  waitForHeading,
} from './browser/browser.js';
import { APPROVED, DECLINED, PageStates } from './browser/page-states.js';
import { onboardMerchant } from './callers/merchant.js';
import { Platform, ROOT } from './platform/platform.js';

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="320" viewBox="0 0 480 160">
  <circle cx="80" cy="80" r="60" fill="#0a7d4f"/>
  <path d="M55 62h44v26a22 22 0 0 1-44 0zM99 68h8a11 11 0 0 1 0 22h-8" fill="none" stroke="#fff" stroke-width="8"/>
  <text x="160" y="100" font-family="sans-serif" font-size="42" font-weight="700" fill="#14342b">Karoo Coffee</text>
</svg>`;
const PHONE = { width: 390, height: 844 };
/** An address without a listener: links back to the shop fail there. */
const SHOP = 'http://127.0.0.1:9';
const DOCS = process.env['SVC_DOCS_PICTURES'] === '1' ? join(ROOT, 'docs', 'pages') : undefined;

/** The pictures of docs/pages. */
const IN_DOCS = ['branded', 'branded-receipt', 'receipt-mail'];

let inbox: SmtpInbox;
let platform: Platform;
let browser: Browser;
let branded: PageStates;
let merchantId: string;
const contexts: BrowserContext[] = [];
let pageErrors: string[] = [];

beforeAll(async () => {
  inbox = await SmtpInbox.start();
  platform = await Platform.start('branded', { SVC_SMTP_URL: inbox.url, SVC_MAIL_FROM: 'payments@svc.example' });
  browser = await startBrowser();
  const site = await onboardMerchant(platform, 'Karoo');
  merchantId = String(site.merchant.merchantId);
  branded = new PageStates(platform, site);
  const file = join(mkdtempSync(join(tmpdir(), 'svc-logo-')), 'logo.png');
  await sharp(Buffer.from(LOGO)).png().toFile(file);
  const options = ['--name', 'Karoo Coffee', '--colour', '#0a7d4f', '--email', 'help@karoo.example'];
  const links = ['--help-page', 'https://karoo.example/help', '--terms', 'https://karoo.example/terms'];
  await admin('look', 'set', merchantId, ...options, '--phone', '+27 21 555 0100', ...links);
  await admin('look', 'logo', merchantId, file);
  await waitForLook('/looks/');
});
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
  await inbox?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  pageErrors = [];
});
afterEach(async () => {
  await Promise.all(contexts.splice(0).map(closeContext));
  expect(pageErrors).toEqual([]);
});

async function admin(...args: string[]): Promise<string> {
  const { code, output } = await platform.svc('admin', ...args);
  expect([code, output]).toEqual([0, output]);
  return output;
}

async function waitForLook(text: string): Promise<void> {
  const url = await branded.open();
  await waitUntil('the look on the page', 10_000, async () => (await (await fetch(url)).text()).includes(text));
}

async function newPage(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-ZA', viewport: PHONE, ...options });
  contexts.push(context);
  pageErrors = recordPageErrors(context);
  const page = await context.newPage();
  await holdReturn(page, SHOP);
  return page;
}

async function expectAccessible(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([name, colorScheme, await axeFindings(page), await scrollsSideways(page)]).toEqual([
      name,
      colorScheme,
      [],
      false,
    ]);
    await screenshot(page, `${name}-${colorScheme}`);
    if (DOCS && colorScheme === 'light' && IN_DOCS.includes(name)) {
      mkdirSync(DOCS, { recursive: true });
      await page.screenshot({ path: join(DOCS, `${name}.png`), fullPage: true });
    }
  }
}

it('shows logo, colour and contact in light and dark, accessibly, and the logo moves nothing', async () => {
  const page = await newPage();
  const { promise: isLoadable, resolve: loadLogo } = Promise.withResolvers<void>();
  await page.route('**/looks/*.png', async (route) => {
    await isLoadable;
    await route.continue();
  });
  await page.goto(await branded.open(), { waitUntil: 'domcontentloaded' });
  const logo = page.getByRole('img', { name: 'Karoo Coffee' });
  const findPlaces = () => Promise.all([logo, payButton(page)].map((element) => element.boundingBox()));
  const before = await findPlaces();
  loadLogo();
  await page.waitForFunction(() => document.querySelector<HTMLImageElement>('img.logo')?.complete);
  expect(await logo.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(480);
  expect(await findPlaces()).toEqual(before);
  expect(await payButton(page).evaluate((button) => getComputedStyle(button).backgroundColor)).toBe('rgb(10, 125, 79)');
  await page.getByRole('link', { name: 'Terms and conditions' }).waitFor({ state: 'visible' });
  await expectAccessible(page, 'branded');
});

it.each([
  ['declined', () => branded.paidWith(DECLINED), 'Pay by card'],
  ['expired', () => branded.expired(), 'This payment page has expired'],
])('has the look in the state %s', async (state, createUrl, heading) => {
  const page = await newPage();
  await page.goto(await createUrl());
  await waitForHeading(page, heading);
  await page.getByRole('img', { name: 'Karoo Coffee' }).waitFor({ state: 'visible' });
  await expectAccessible(page, `branded-${state}`);
});

it('sends the receipt to the payer, in the time of the merchant', async () => {
  const page = await newPage({ timezoneId: 'Asia/Kathmandu' });
  await page.goto(await branded.open());
  await fillCard(page, APPROVED);
  await payButton(page).click();
  await waitForHeading(page, 'Payment successful');
  await page.getByText('Send the receipt by e-mail').click();
  await page.getByLabel('E-mail address').fill('thandi@example.com');
  // The page no longer returns to the shop by itself.
  expect(await page.locator('#returning').innerText()).toBe('');
  await expectAccessible(page, 'branded-receipt');
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('footer').innerText()).toMatch(
    /^Questions\? .+\nhelp@karoo\.example\n\+27 21 555 0100\nHelp page\nTerms and conditions$/,
  );
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('button', { name: 'Send the receipt' }).click();
  await page.getByText('The receipt was sent.').waitFor({ state: 'visible' });
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('receipt-result');
  expect(new URL(page.url()).searchParams.get('receipt')).toBe('sent');
  const mail = await inbox.waitForMail('thandi@example.com');
  expect(mail).toMatchObject({ from: { name: 'Karoo Coffee' }, replyTo: ['help@karoo.example'] });
  expect(mail.subject).toBe('Receipt from Karoo Coffee: R 123.45');
  expect(mail.text).toMatch(/Card: \*\*\*\* 4242\nDate: \d+ \w+ \d{4} at \d\d:\d\d SAST\n/);
  expect(mail.source).not.toContain(APPROVED);
  // The logo of the mail is on the gateway, and its page has no accessibility problem either.
  const [logoUrl] = /http[^"]+\/looks\/[0-9a-f]{32}\.png/.exec(mail.html) ?? [];
  expect((await fetch(logoUrl!)).headers.get('content-type')).toBe('image/png');
  const reader = await newPage();
  await reader.setContent(mail.html);
  await expectAccessible(reader, 'receipt-mail');
});

it('sends the receipt without a script', async () => {
  const page = await newPage({ javaScriptEnabled: false });
  await page.goto(await branded.paidWith(APPROVED));
  await page.getByText('Send the receipt by e-mail').click();
  await page.getByLabel('E-mail address').fill('sipho@example.com');
  await page.getByRole('button', { name: 'Send the receipt' }).click();
  await page.getByText('The receipt was sent.').waitFor({ state: 'visible' });
  expect((await inbox.waitForMail('sipho@example.com')).text).toMatch(/ SAST\n/);
});

it('a look that is removed is gone from the page', async () => {
  await admin('look', 'set', merchantId);
  expect(await admin('look', 'logo', merchantId, 'none')).not.toContain('/looks/');
  expect(await admin('look', 'show', merchantId)).toMatch(/^merchantId +\d+\nversion +4\n/);
  const url = await branded.open();
  await waitUntil(
    'the page without a look',
    10_000,
    async () => !(await (await fetch(url)).text()).includes('/looks/'),
  );
});

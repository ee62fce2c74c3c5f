/**
 * The challenge of the payment page, at a site of its own: accessible, usable with the keyboard alone, and fast enough on
 * a slow phone. The processor of the phone is six times slower than this machine's, for the page and for WebCrypto, which
 * Chromium does not slow down by itself.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { computeNumbers } from '../apps/hosted-gateway/src/challenge/challenge-difficulty.js';
import {
  axeFindings,
  closeContext,
  fillCard,
  payButton,
  recordPageErrors,
  screenshot,
  scrollsSideways,
  startBrowser,
  waitForHeading,
} from './browser/browser.js';
import { APPROVED, DECLINED, PageStates } from './browser/page-states.js';
import { onboardMerchant } from './callers/merchant.js';
import { type MerchantSite, type Platform, ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const HEADING = 'One moment, please';
const PHONE = { width: 390, height: 844 };
const CPU_SLOWDOWN = 6;
/** Mean of the challenge at level 1 on the slow phone. One challenge takes up to twice as long. */
const MAX_MEAN_MS = 2_000 * PATIENCE;
/** The longest search of the hardest challenge: 8 s, with a margin for other load on this machine. */
const MAX_MS = 16_000 * PATIENCE;
/** Presses of Tab from the beginning of the page to its card form. */
const MAX_TABS = 30;
const DOCS = process.env['SVC_DOCS_PICTURES'] === '1' ? join(ROOT, 'docs', 'pages') : undefined;

let platform: Platform;
let browser: Browser;
/** The merchant of `challenged` wants a challenge before each payment. */
let challenged: PageStates;
let attackedSite: MerchantSite;
const contexts: BrowserContext[] = [];
let pageErrors: string[] = [];

beforeAll(async () => {
  [platform, browser] = await Promise.all([sharedPlatform('embedded'), startBrowser()]);
  const names = ['Always Challenged', 'Attacked'];
  const [site, attacked] = await Promise.all(names.map((name) => onboardMerchant(platform, name)));
  attackedSite = attacked!;
  const siteName = `${site!.merchant.merchantId}/${site!.siteId}`;
  const { code, output } = await platform.svc('admin', 'sites', 'challenge', siteName, 'always');
  if (code !== 0) throw new Error(output);
  challenged = new PageStates(platform, site);
  const url = await challenged.open();
  await waitUntil('the page has a challenge', 10_000, async () =>
    (await (await fetch(url)).text()).includes('data-challenge='),
  );
});
afterAll(() => browser?.close());
afterEach(async () => {
  await Promise.all(contexts.splice(0).map(closeContext));
  expect(pageErrors).toEqual([]);
});

async function newPage(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-ZA', viewport: PHONE, ...options });
  contexts.push(context);
  pageErrors = recordPageErrors(context);
  return context.newPage();
}

/** Lets WebCrypto return this number of wrong digests, and then none, so that the challenge stays unsolved. */
async function holdChallenge(page: Page, digests: number): Promise<void> {
  await page.addInitScript((left) => {
    crypto.subtle.deriveBits = () =>
      left-- > 0 ? Promise.resolve(new ArrayBuffer(16)) : new Promise<ArrayBuffer>(() => undefined);
  }, digests);
}

/** Fills in the card form and pays, with the keys Tab and Enter only. */
async function payWithKeyboard(page: Page): Promise<void> {
  const focusedId = (): Promise<string | undefined> => page.evaluate(() => document.activeElement?.id);
  for (let tabs = 0; (await focusedId()) !== 'card-number'; tabs++) {
    if (tabs === MAX_TABS) throw new Error('Tab does not reach the card number.');
    await page.keyboard.press('Tab');
  }
  for (const text of [APPROVED, '1235', '123', 'Thandi Nkosi']) {
    await page.keyboard.type(text);
    await page.keyboard.press('Tab');
  }
  expect(await focusedId()).toBe('pay-button');
  await page.keyboard.press('Enter');
}

const isFormVisible = (page: Page): Promise<boolean> => page.getByLabel('Card number').isVisible();

it.each([
  { name: 'phone-light', viewport: PHONE, colorScheme: 'light' },
  { name: 'desktop-dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
] as const)('is accessible while the browser solves it, in place of the form ($name)', async (look) => {
  const page = await newPage({ viewport: look.viewport, colorScheme: look.colorScheme });
  await holdChallenge(page, 60);
  await page.goto(await challenged.open());
  await waitForHeading(page, HEADING);
  const progress = page.getByRole('progressbar', { name: HEADING });
  await waitUntil('the progress', 10_000, async () => Number(await progress.getAttribute('value')) > 0);
  expect(await isFormVisible(page)).toBe(false);
  expect(await axeFindings(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  await screenshot(page, `page-challenge-${look.name}`);
  if (DOCS && look.colorScheme === 'light') {
    mkdirSync(DOCS, { recursive: true });
    await page.screenshot({ path: join(DOCS, 'challenge.png'), fullPage: true });
  }
});

it('is solved without the payer, announced to screen readers, and the payer pays with the keyboard alone', async () => {
  const page = await newPage({ reducedMotion: 'reduce' });
  await page.goto(await challenged.open());
  await page.getByRole('status').getByText('Done. You can pay now.').waitFor({ state: 'attached' });
  await page.getByLabel('Card number').waitFor({ state: 'visible' });
  expect(await axeFindings(page)).toEqual([]);
  await payWithKeyboard(page);
  await waitForHeading(page, 'Payment successful');
});

it('is also before the form of an invoice of a till: accessible, and the payer pays with the keyboard alone', async () => {
  const url = await challenged.invoice();
  const held = await newPage();
  await holdChallenge(held, 60);
  await held.goto(url);
  await waitForHeading(held, HEADING);
  expect([await isFormVisible(held), await axeFindings(held)]).toEqual([false, []]);
  await closeContext(held.context());

  const page = await newPage();
  const sent = page.waitForRequest((request) => request.url().includes('/payments') && request.method() === 'POST');
  await page.goto(url);
  await page.getByRole('status').getByText('Done. You can pay now.').waitFor({ state: 'attached' });
  await page.getByLabel('Card number').waitFor({ state: 'visible' });
  expect(await axeFindings(page)).toEqual([]);
  await payWithKeyboard(page);
  await waitForHeading(page, 'Payment successful');
  const request = (await sent).postDataJSON() as object;
  expect(request).toMatchObject({ challenge: expect.any(String), solution: expect.any(Number) });
  expect((await (await sent).response())?.status()).toBe(200);
});

it('is solved again in the background after a decline', async () => {
  const page = await newPage();
  await page.goto(await challenged.open());
  await fillCard(page, DECLINED);
  const [next] = await Promise.all([page.waitForResponse(/\/challenges/), payButton(page).click()]);
  expect(next.status()).toBe(200);
  await page.getByText('You have 4 of 5 attempts left').waitFor({ state: 'visible' });
  await fillCard(page, APPROVED);
  await payButton(page).click();
  await waitForHeading(page, 'Payment successful');
});

it('is solved after the payer pressed Pay if the attack began after the page was loaded', async () => {
  const { merchant, siteId } = attackedSite;
  const page = await newPage();
  await page.goto(await new PageStates(platform, attackedSite).open());
  await fillCard(page, APPROVED);
  await platform.sql(
    `INSERT INTO hosted_gateway.site_attack_levels VALUES ('test', $1, $2, 1, now() + interval '1 hour', 1)`,
    [merchant.merchantId, siteId],
  );
  const url = await new PageStates(platform, attackedSite).open();
  await waitUntil('the attack', 5_000, async () => (await (await fetch(url)).text()).includes('data-challenge='));
  await payButton(page).click();
  await waitForHeading(page, 'Payment successful');
  // The browser reports the response that requires a challenge as an error.
  expect(pageErrors.filter((error) => !error.includes('428'))).toEqual([]);
  expect(pageErrors.length).toBeGreaterThan(0);
  pageErrors.length = 0;
});

it('is not shown without script: the page explains that paying by card needs JavaScript', async () => {
  const page = await newPage({ javaScriptEnabled: false });
  await page.goto(await challenged.open());
  const notices = page.getByText(/^Paying by card needs JavaScript/);
  expect(await notices.filter({ visible: true }).count()).toBe(1);
  expect(await page.getByRole('progressbar').isVisible()).toBe(false);
  expect(await page.locator('summary', { hasText: 'Pay with another device' }).isVisible()).toBe(true);
  await screenshot(page, 'page-challenge-no-script');
});

it('takes about a second on a slow phone, and the page stays responsive', async () => {
  const page = await newPage();
  const phone = await page.context().newCDPSession(page);
  await phone.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  await page.goto(await challenged.open());
  await page.getByLabel('Card number').waitFor({ state: 'visible' });
  // Tries 200 numbers as the page does, without the slow-down of the page's thread, and then with it.
  const measure = (): Promise<{ msPerNumber: number; longestPauseMs: number }> =>
    page.evaluate(async () => {
      const key = await crypto.subtle.importKey('raw', new Uint8Array(36), 'PBKDF2', false, ['deriveBits']);
      let [last, longestPauseMs] = [performance.now(), 0];
      let isDone = false;
      const onFrame = (): void => {
        longestPauseMs = Math.max(longestPauseMs, performance.now() - last);
        last = performance.now();
        if (!isDone) requestAnimationFrame(onFrame);
      };
      requestAnimationFrame(onFrame);
      const start = performance.now();
      for (let first = 0; first < 200; first += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, index) => {
            const salt = new TextEncoder().encode(String(first + index));
            const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 1_000 };
            return crypto.subtle.deriveBits(algorithm, key, 128);
          }),
        );
      isDone = true;
      return { msPerNumber: (performance.now() - start) / 200, longestPauseMs };
    });
  // The fastest of three counts, because other load on the machine also slows it down.
  const measureThrice = async () => {
    const measured = [await measure(), await measure(), await measure()];
    return measured.reduce((best, one) => (one.msPerNumber < best.msPerNumber ? one : best));
  };
  const throttled = await measureThrice();
  await phone.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  const plain = await measureThrice();
  // WebCrypto has its own thread, which Chromium does not slow down.
  const meanMs = Math.max(throttled.msPerNumber, plain.msPerNumber * CPU_SLOWDOWN) * 1_000;
  const maxMs = computeNumbers(2_000, 3, Infinity) * Math.max(throttled.msPerNumber, plain.msPerNumber * CPU_SLOWDOWN);
  console.table([
    { ...plain, page: 'this machine' },
    { ...throttled, page: 'slow page thread' },
    { meanMs, maxMs },
  ]);
  expect(meanMs).toBeLessThan(MAX_MEAN_MS);
  expect(maxMs).toBeLessThan(MAX_MS);
  expect(throttled.longestPauseMs).toBeLessThan(250 * PATIENCE);
});

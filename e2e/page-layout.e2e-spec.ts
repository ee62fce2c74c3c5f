/**
 * The layout of the payer's page: nothing overlaps, no amount and no reference is divided at the end of a line, a basket
 * is folded on a phone, and the receipt fits on A4 and on the paper of a receipt printer.
 */
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
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
import { APPROVED, PageStates } from './browser/page-states.js';
import { ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const PHONE = { width: 390, height: 844 };
const NARROW = { width: 320, height: 640 };
const DESKTOP = { width: 1280, height: 800 };
/** 210 mm and 80 mm, without the margins of the style sheet, at 96 dots per inch. */
const PAPERS = [
  { name: 'a4', width: 756, height: 1_047, format: { format: 'A4' } },
  { name: '80mm', width: 264, height: 1_047, format: { width: '80mm', height: '400mm' } },
] as const;
/** An address without a listener: links back to the shop fail there. */
const SHOP = 'http://127.0.0.1:9';
const DOCS = process.env['SVC_DOCS_PICTURES'] === '1' ? join(ROOT, 'docs', 'pages') : undefined;

let browser: Browser;
let states: PageStates;
let context: BrowserContext;
let page: Page;
let pageErrors: string[];
beforeAll(async () => {
  states = new PageStates(await sharedPlatform('embedded'));
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-ZA', viewport: PHONE });
  pageErrors = recordPageErrors(context);
  page = await context.newPage();
  await holdReturn(page, SHOP);
});
afterEach(async () => {
  await closeContext(context);
  expect(pageErrors).toEqual([]);
});

const box = async (selector: string) => (await page.locator(selector).first().boundingBox())!;

/** The visible elements whose text takes more than one line. */
const findDivided = (selector: string): Promise<string[]> =>
  page.evaluate((selected) => {
    const isDivided = (element: Element): boolean => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
    };
    return [...document.querySelectorAll(selected)].filter(isDivided).map(({ textContent }) => textContent);
  }, selector);

/** The right edges of the visible amounts of the basket: one, if the amounts are below each other. */
const findRightEdges = (): Promise<number[]> =>
  page
    .locator('td .money:visible')
    .evaluateAll((amounts) => [...new Set(amounts.map((amount) => Math.round(amount.getBoundingClientRect().right)))]);

interface LayoutShift extends PerformanceEntry {
  readonly sources: readonly { readonly node: Node | null }[];
}

/** The elements of all layout shifts that are not caused by input. */
const findMovedElements = (): Promise<string[]> =>
  page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const moved: string[] = [];
        const observer = new PerformanceObserver((list) => {
          for (const { sources } of list.getEntries() as LayoutShift[])
            moved.push(...sources.map(({ node }) => (node instanceof Element ? node.outerHTML.slice(0, 100) : 'text')));
        });
        observer.observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(moved)));
      }),
  );

it.each([PHONE, DESKTOP])(
  'the badge of a test session does not lie on the sheet, at a width of $width',
  async (viewport) => {
    await page.setViewportSize(viewport);
    await page.goto(await states.open());
    const [badge, sheet] = [await box('.test-badge'), await box('main')];
    expect(badge.y + badge.height).toBeLessThanOrEqual(sheet.y);
    // On a desktop the sheet has rounded corners, so there is a distance.
    expect(sheet.y - badge.y - badge.height).toBeGreaterThanOrEqual(viewport === DESKTOP ? 4 : 0);
  },
);

it.each([12_345_600, 10_000_000_000, 100_000_000_000])(
  'the amount of %d cents is on one line, whatever the width',
  async (amount) => {
    await page.goto(await states.open({ amount }));
    for (const viewport of [NARROW, PHONE, DESKTOP]) {
      await page.setViewportSize(viewport);
      expect([viewport.width, await findDivided('.money'), await scrollsSideways(page)]).toEqual([
        viewport.width,
        [],
        false,
      ]);
    }
  },
);

it('the reference and the time of a receipt are on one line on a phone', async () => {
  await page.goto(await states.paidWith(APPROVED));
  await waitForHeading(page, 'Payment successful');
  expect(await findDivided('.receipt dd bdi, .receipt dd time')).toEqual([]);
});

it('a basket is folded on a phone with its count and total, and open on a desktop, also without script', async () => {
  const url = await states.basket();
  for (const javaScriptEnabled of [true, false]) {
    const other = await browser.newContext({ locale: 'en-ZA', viewport: PHONE, javaScriptEnabled });
    const phone = await other.newPage();
    await phone.goto(url);
    const line = phone.getByText('Swartberg Espresso');
    expect(await line.isVisible()).toBe(false);
    await phone.getByText('10 items · R 1 484.45').click();
    expect(await line.isVisible()).toBe(true);
    await phone.setViewportSize(DESKTOP);
    await phone.reload();
    expect([await line.isVisible(), await phone.getByText('10 items').isVisible()]).toEqual([true, false]);
    await closeContext(other);
  }
});

it('a basket of 500 lines scrolls inside of the order, and the form stays beside it or below it', async () => {
  await page.goto(await states.basket(500));
  expect((await box('#pay-button')).y).toBeLessThan(900);
  await page.getByText('500 items · ').click();
  expect((await box('.lines')).height).toBeLessThan(PHONE.height * 0.61);
  expect([await axeFindings(page), await scrollsSideways(page)]).toEqual([[], false]);
  await page.setViewportSize(DESKTOP);
  expect(await page.locator('.line-count').innerText()).toBe('500 items');
  expect((await box('main')).height).toBeLessThan(DESKTOP.height);
  expect((await box('#pay-button')).y).toBeLessThan(DESKTOP.height);
  expect(await findRightEdges()).toHaveLength(1);
  // The lines can be reached and scrolled with the keyboard.
  const lines = page.getByRole('region', { name: '500 items' });
  await lines.focus();
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.querySelector('.lines')!.scrollTop > 1_000);
});

it.each([0, 3, 500])('the page with %d lines does not move while it arrives slowly', async (lines) => {
  const devTools = await context.newCDPSession(page);
  const throughput = { downloadThroughput: 20_000, uploadThroughput: 20_000 };
  await devTools.send('Network.emulateNetworkConditions', { offline: false, latency: 100, ...throughput });
  await page.goto(lines === 0 ? await states.open() : await states.basket(lines));
  await payButton(page).and(page.locator(':enabled')).waitFor({ state: 'visible' });
  expect(await findMovedElements()).toEqual([]);
});

it('the mark of the typed card is highlighted, and the others are dimmed', async () => {
  await page.goto(await states.open());
  const findHighlighted = (): Promise<(string | undefined)[]> =>
    page
      .locator('#card-marks li')
      .evaluateAll((marks) =>
        marks
          .filter((mark) => getComputedStyle(mark).opacity === '1')
          .map((mark) => (mark as HTMLElement).dataset['brand']),
      );
  expect(await findHighlighted()).toHaveLength(8);
  await page.getByLabel('Card number').pressSequentially('5555');
  expect(await findHighlighted()).toEqual(['mastercard']);
  await page.getByLabel('Card number').fill('9');
  expect(await findHighlighted()).toHaveLength(8);
});

it('a card number of 19 digits is not cut off on the narrowest phone', async () => {
  await page.setViewportSize(NARROW);
  await page.goto(await states.open());
  await page.getByLabel('Card number').fill('4242424242424242428');
  expect(await page.locator('#card-number').evaluate((input) => input.scrollWidth - input.clientWidth)).toBe(0);
});

it('a wrong CVV has one message', async () => {
  await page.goto(await states.open());
  await fillCard(page, '4242 4242 4242 4242');
  await page.getByLabel('CVV').fill('1');
  await payButton(page).click();
  const texts = await page.locator('.field:has(#card-cvv) p:visible').allInnerTexts();
  expect(texts).toEqual(['The CVV of this card has 3 digits.']);
  // The bank's message about the CVV is above the form only.
  await fillCard(page, '4000 0000 0000 0127');
  await payButton(page).click();
  await page.getByText('The CVV is not correct').waitFor({ state: 'visible' });
  expect(await page.getByText('The CVV is not correct').count()).toBe(1);
  expect(await page.locator('#card-cvv').getAttribute('aria-invalid')).toBe('true');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('card-cvv');
});

it.each(PAPERS)(
  'the receipt is complete on $name, without controls and without scrolling',
  async ({ name, format, ...paper }) => {
    await page.goto(await states.basket(20));
    await fillCard(page, '4242 4242 4242 4242');
    await payButton(page).click();
    await waitForHeading(page, 'Payment successful');
    expect(await page.getByRole('button', { name: 'Print or save the receipt' }).isVisible()).toBe(true);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize(paper);
    expect(await page.locator('a:visible, button:visible, summary:visible, nav:visible, footer:visible').count()).toBe(
      0,
    );
    const text = (await page.locator('body').innerText()).replace(/\s+/g, ' ');
    for (const shown of [
      'TEST: no money moves',
      'Karoo Roastery',
      /Card Visa \*\*\*\* 4242/,
      /Date \d+ \w+ \d{4} at \d\d:\d\d/,
      /Order \S+/,
      /Payment reference \w{18}/,
      'Line 1 of the order',
      'Line 20 of the order',
      /Delivery R 60\.00/,
      /Total R 1 000\.00/,
      /VAT included R 130\.43/,
    ])
      expect(text).toMatch(shown);
    // Nothing overlaps: the badge, the order and the receipt are below each other.
    const [badge, summary, methods] = [await box('.test-badge'), await box('.summary'), await box('.methods')];
    expect(badge.y + badge.height).toBeLessThanOrEqual(summary.y);
    expect(summary.y + summary.height).toBeLessThanOrEqual(methods.y);
    expect([await scrollsSideways(page), await findDivided('.money, .receipt dd bdi')]).toEqual([false, []]);
    expect(await findRightEdges()).toHaveLength(1);
    await screenshot(page, `page-receipt-on-${name}`);
    if (DOCS) await page.screenshot({ path: join(DOCS, `receipt-${name}.png`), fullPage: true });
    const pages = (await page.pdf(format)).toString('latin1').match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages).toHaveLength(1);
  },
);

it('printing the receipt stops the return to the shop', async () => {
  await page.goto(await states.open());
  await fillCard(page, '4242 4242 4242 4242');
  await page.clock.install();
  await payButton(page).click();
  await waitForHeading(page, 'Payment successful');
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  expect(await page.locator('#stay').isVisible()).toBe(false);
  expect(await page.locator('#returning').innerText()).toBe('');
});

/**
 * The payer's page is accessible in each of its states: on a phone and a desktop, light and dark, in forced colours,
 * enlarged to 200 and 400 %, without mouse, motion or script. The tests take a picture of each state, and with
 * SVC_DOCS_PICTURES=1 they also write pictures to docs/pages.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  axeFindings,
  closeContext,
  fillCard,
  holdReturn,
  NOT_CONTRAST,
  payButton,
  recordPageErrors,
  screenshot,
  scrollsSideways,
  startBrowser,
  waitForHeading,
  withForcedTextFill,
} from './browser/browser.js';
import { focusRings } from './browser/focus-ring.js';
import { APPROVED, DECLINED, PAGE_STATES, PageStates, VERIFIED } from './browser/page-states.js';
import { readQr } from './browser/qr-scanner.js';
import { type Platform, ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

/** Sizes and colour schemes of the page. axe checks each size and each scheme once: the looks with `axe: true`. */
const LOOKS = [
  { name: 'phone-light', viewport: { width: 390, height: 844 }, colorScheme: 'light', axe: true },
  { name: 'phone-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark', axe: false },
  { name: 'desktop-light', viewport: { width: 1280, height: 800 }, colorScheme: 'light', axe: false },
  { name: 'desktop-dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark', axe: true },
] as const;
/** A desktop window of 640 pixels at 200 %, which is as wide as the narrowest phone. */
const ENLARGED = { width: 320, height: 400 };
/** A desktop window of 1280 by 1024 pixels at 400 % (WCAG 1.4.10). */
const ENLARGED_FOUR_TIMES = { width: 320, height: 256 };
/** An address without a listener: links back to the shop fail there. */
const SHOP = 'http://127.0.0.1:9';
/** Maximum time to paint the page on a phone with a slow network. Other load on the machine delays the page too. */
const MAX_PAINT_MS = 1_000 * PATIENCE;
/** Maximum number of loads until one is painted in time. */
const MAX_LOADS = 10;
/** At 400 % the page has the colours of the look phone-light, which axe has checked. */
/** In forced colours, the page differs from the other looks only in its colours. */
const ONLY_CONTRAST = { runOnly: ['color-contrast'] };
/** States whose page has the status 404. */
const NOT_FOUND_STATES = ['not-found', 'unknown-code'];
const DOCS = process.env['SVC_DOCS_PICTURES'] === '1' ? join(ROOT, 'docs', 'pages') : undefined;

describe('the page', () => {
  let platform: Platform;
  let browser: Browser;
  let states: PageStates;
  const contexts: BrowserContext[] = [];
  let pageErrors: string[] = [];

  beforeAll(async () => {
    platform = await sharedPlatform('embedded');
    browser = await startBrowser();
    states = new PageStates(platform);
  });
  afterAll(async () => {
    await browser?.close();
  });
  beforeEach(() => {
    pageErrors = [];
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(closeContext));
    expect(pageErrors).toEqual([]);
  });

  async function newPage(options: Parameters<Browser['newContext']>[0]): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-ZA', ...options });
    contexts.push(context);
    pageErrors = recordPageErrors(context);
    const page = await context.newPage();
    await holdReturn(page, SHOP);
    return page;
  }

  /**
   * Checks a state in every look. All looks are on one page, because they differ only in CSS. `act` causes states that
   * the server cannot cause.
   */
  async function expectAccessible(name: string, url: string, act: (page: Page) => Promise<void>): Promise<void> {
    // Without animations, because a picture would otherwise show a button that changes its colour.
    const { viewport, colorScheme } = LOOKS[0];
    const page = await newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
    await page.goto(url);
    await act(page);
    for (const look of LOOKS) {
      await page.setViewportSize(look.viewport);
      await page.emulateMedia({ colorScheme: look.colorScheme });
      if (look.axe) expect([look.name, await axeFindings(page)]).toEqual([look.name, []]);
      expect([look.name, await scrollsSideways(page)]).toEqual([look.name, false]);
      await screenshot(page, `page-${name}-${look.name}`);
      if (DOCS && look.name === 'phone-light') {
        mkdirSync(DOCS, { recursive: true });
        await page.screenshot({ path: join(DOCS, `${name}.png`), fullPage: true });
      }
    }
    await page.setViewportSize(ENLARGED);
    expect([name, 'enlarged', await scrollsSideways(page)]).toEqual([name, 'enlarged', false]);
    await screenshot(page, `page-${name}-enlarged`);
    await page.setViewportSize(ENLARGED_FOUR_TIMES);
    const findings = await axeFindings(page, NOT_CONTRAST);
    expect([name, 'at 400 %', await scrollsSideways(page), findings]).toEqual([name, 'at 400 %', false, []]);
    await page.setViewportSize(LOOKS[2].viewport);
    await page.emulateMedia({ forcedColors: 'active' });
    await screenshot(page, `page-${name}-forced-colours`);
    await withForcedTextFill(page);
    expect([name, 'in forced colours', await axeFindings(page, ONLY_CONTRAST)]).toEqual([
      name,
      'in forced colours',
      [],
    ]);
    // The browser reports a 404 as an error, but in these states it is correct.
    if (NOT_FOUND_STATES.includes(name)) pageErrors.length = 0;
    expect(pageErrors).toEqual([]);
    await closeContext(page.context());
  }

  it.each(PAGE_STATES.map((state) => [state.name, state] as const))(
    'is accessible in the state %s',
    async (name, { heading, createUrl }) => {
      await expectAccessible(name, await createUrl(states), (page) => waitForHeading(page, heading));
    },
  );

  it('shows an error beside every wrong field, announces it, and focuses the first', async () => {
    await expectAccessible('mistakes', await states.open(), async (page) => {
      await fillCard(page, '4242 4242 4242 4241');
      await page.getByLabel('Expiry date').fill('12 / 20');
      await page.getByLabel('CVV').fill('1');
      await page.getByLabel('Name on card').fill(' ');
      await payButton(page).click();
      await page.getByText('This card number is not correct.').waitFor({ state: 'visible' });
      for (const label of ['Card number', 'Expiry date', 'CVV', 'Name on card']) {
        const input = page.getByLabel(label);
        expect(await input.getAttribute('aria-invalid')).toBe('true');
        const describedBy = (await input.getAttribute('aria-describedby'))!.split(' ').at(-1)!;
        const error = page.locator(`#${describedBy}`);
        expect([label, await error.getAttribute('aria-live')]).toEqual([label, 'polite']);
        expect(await error.innerText()).not.toBe('');
      }
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('card-number');
    });
  });

  it('shows its code beside the form on a desktop, and folded below the form on a phone, also without script', async () => {
    const url = await states.open();
    const code = (page: Page) => page.getByRole('img', { name: 'QR code that opens this payment on a phone' });
    for (const colorScheme of ['light', 'dark'] as const) {
      const desktop = await newPage({ viewport: LOOKS[2].viewport, colorScheme });
      await desktop.goto(url);
      const [form, image] = [await desktop.locator('#pay-form').boundingBox(), await code(desktop).boundingBox()];
      // The code is beside the form, visible without scrolling, and large enough for a camera.
      expect(image!.x).toBeGreaterThan(form!.x + form!.width);
      expect(image!.y + image!.height).toBeLessThan(LOOKS[2].viewport.height);
      expect(image!.width).toBeGreaterThan(180);
      expect(await readQr(browser, await desktop.screenshot())).toBe(await states.scanned(url));
      if (DOCS && colorScheme === 'light') await desktop.screenshot({ path: join(DOCS, 'code.png') });
    }
    for (const javaScriptEnabled of [true, false]) {
      const phone = await newPage({ viewport: LOOKS[0].viewport, javaScriptEnabled });
      await phone.goto(url);
      expect(await code(phone).isVisible()).toBe(false);
      await phone.locator('summary', { hasText: 'Pay with another device' }).click();
      expect(await code(phone).isVisible()).toBe(true);
      // Both checks run in the page, so they need script.
      const findings = javaScriptEnabled ? [await axeFindings(phone), await scrollsSideways(phone)] : [[], false];
      expect(findings).toEqual([[], false]);
      await screenshot(phone, `page-code-unfolded-${javaScriptEnabled ? 'with' : 'no'}-script`);
    }
  });

  it('groups the digits of the card number and shows the card brand during input, also after a correction', async () => {
    const page = await newPage({});
    await page.goto(await states.open());
    const number = page.getByLabel('Card number');
    await number.pressSequentially('4242424242424242');
    expect([await number.inputValue(), await page.locator('#card-brand').innerText()]).toEqual([
      '4242 4242 4242 4242',
      'Visa',
    ]);
    for (let back = 0; back < 10; back++) await number.press('ArrowLeft');
    await number.press('Backspace');
    await number.pressSequentially('5');
    expect(await number.inputValue()).toBe('4242 4245 4242 4242');
    await number.fill('378282246310005');
    expect([await number.inputValue(), await page.locator('#card-brand').innerText()]).toEqual([
      '3782 822463 10005',
      'Amex',
    ]);
    await page.getByText('4 digits on the front').waitFor({ state: 'visible' });
  });

  it.each(['light', 'dark'] as const)('shows a focus ring with a contrast of 3:1 or more (%s)', async (colorScheme) => {
    const soon = await states.updateSession(
      await states.open(),
      `UPDATE hosted_gateway.sessions SET expires_at = $2 WHERE session_id = $1`,
      new Date(Date.now() + 4 * 60_000),
    );
    const form = ['card-number', 'card-expiry', 'card-cvv', 'card-name', 'pay-button'];
    for (const [url, reached] of [
      [soon, ['more-time', ...form]],
      [await states.paidWith(VERIFIED), ['verification-link', 'Use another card']],
      [await states.paidWith(APPROVED), ['return-link', 'stay']],
    ] as const) {
      const page = await newPage({ viewport: LOOKS[0].viewport, colorScheme });
      await page.goto(url);
      await page.locator(`#${reached[0]}`).waitFor({ state: 'visible' });
      await page.locator('#languages').evaluate((languages: HTMLDetailsElement) => (languages.open = true));
      const rings = await focusRings(page);
      expect(rings.map(({ of }) => of)).toEqual(expect.arrayContaining([...reached, 'English', 'isiZulu']));
      expect(rings.filter(({ width, contrast }) => width < 2 || contrast < 3)).toEqual([]);
    }
  });

  it('lets a payer pay with the keyboard alone, and shows no motion if the payer prefers none', async () => {
    const page = await newPage({ reducedMotion: 'reduce' });
    await page.goto(await states.open());
    await page.getByLabel('Card number').focus();
    for (const text of ['4242424242424242', '1235', '123', 'Thandi Nkosi']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('pay-button');
    await page.keyboard.press('Enter');
    await waitForHeading(page, 'Payment successful');
    const moving = await page.evaluate(
      () => document.getAnimations().filter((one) => one instanceof CSSAnimation).length,
    );
    expect(moving).toBe(0);
  });

  it.each([LOOKS[0], LOOKS[2]])('keeps its layout when Pay is pressed, also after a decline ($name)', async (look) => {
    const page = await newPage({ viewport: look.viewport, colorScheme: look.colorScheme });
    await page.goto(await states.open());
    const boxes = () =>
      page.evaluate(() =>
        ['main', '.summary', '.methods', '#pay-form', 'footer'].map((part) => {
          const { x, width, height, top } = document.querySelector(part)!.getBoundingClientRect();
          return [part, x, top + window.scrollY, width, height];
        }),
      );
    for (const cardNumber of [DECLINED, APPROVED]) {
      const held = Promise.withResolvers<void>();
      await page.route('**/payments*', async (route) => {
        await held.promise;
        await route.continue();
      });
      await fillCard(page, cardNumber);
      const before = await boxes();
      await payButton(page).click();
      await waitForHeading(page, 'Sending your payment');
      expect(await boxes()).toEqual(before);
      // The status is in sight, and neither the form nor a link back to the store can be used.
      expect(await page.locator('#processing-heading').evaluate(isInSight)).toBe(true);
      expect(await page.locator('main').getByRole('textbox').count()).toBe(0);
      expect(await page.getByRole('link', { name: 'Back to store' }).count()).toBe(0);
      held.resolve();
      await page.unroute('**/payments*');
      if (cardNumber === DECLINED) await page.getByText('You have 4 of 5 attempts left').waitFor({ state: 'visible' });
    }
    await waitForHeading(page, 'Payment successful');
  });

  it('explains without script that paying by card needs JavaScript, and links back to the store', async () => {
    const page = await newPage({ javaScriptEnabled: false, viewport: LOOKS[0].viewport });
    await page.goto(await states.open());
    expect(await page.locator('noscript .notice').innerText()).toMatch(
      /^Paying by card needs JavaScript.*Nothing has been charged\.$/s,
    );
    expect(await page.getByRole('link', { name: 'Back to store' }).getAttribute('href')).toContain(SHOP);
    expect(await page.locator('#card-number').isVisible()).toBe(false);
    await screenshot(page, 'page-no-script');
    if (DOCS) await page.screenshot({ path: join(DOCS, 'no-script.png'), fullPage: true });
  });

  it('runs no script that a merchant sends', async () => {
    const evil = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    const url = await states.open({
      siteName: evil.slice(0, 100),
      merchantOrderId: evil.slice(0, 100),
      customFields: [
        { key: evil.slice(0, 64), value: evil },
        { key: '\u202Egnihtemos', value: 'x'.repeat(512) },
      ],
    });
    await expectAccessible('hostile', url, async (page) => {
      await waitForHeading(page, 'Pay by card');
      expect(await page.title()).toMatch(/^Pay R/);
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.locator('main').innerText()).toContain('<img src=x');
    });
  });

  it('warns five minutes before the session expires, not earlier, and lets the payer extend the session once', async () => {
    const url = await states.open();
    const expireIn = (minutes: number): Promise<string> =>
      states.updateSession(
        url,
        `UPDATE hosted_gateway.sessions SET expires_at = $2 WHERE session_id = $1`,
        new Date(Date.now() + minutes * 60_000),
      );
    const page = await newPage({ viewport: LOOKS[0].viewport, timezoneId: 'Africa/Johannesburg' });
    await page.goto(await expireIn(20));
    await payButton(page).waitFor({ state: 'visible' });
    expect(await page.locator('#expiring').isVisible()).toBe(false);
    await expectAccessible('expiring', await expireIn(4), async (soon) => {
      const warning = soon.getByText(/^You can pay here until \d+ \w+ \d+ at \d\d:\d\d/);
      await warning.waitFor({ state: 'visible' });
      // A screen reader reads the warning, and the focus stays in the field.
      expect(await warning.getAttribute('role')).toBe('status');
    });

    // The payer can extend the session once and keeps the input. A payment in the extended session is charged.
    const last = await newPage({ viewport: LOOKS[0].viewport });
    await last.goto(url);
    await last.getByLabel('Card number').fill('4242 4242');
    await last.getByRole('button', { name: 'Give me 15 more minutes' }).click();
    await last.locator('#more-time').waitFor({ state: 'detached' });
    expect(await last.evaluate(() => document.activeElement?.id)).toBe('expiring-text');
    expect(await last.locator('#expiring-text').innerText()).toMatch(/^You can pay here until/);
    expect(await last.getByLabel('Card number').inputValue()).toBe('4242 4242');
    await last.reload();
    await payButton(last).waitFor({ state: 'visible' });
    expect(await last.locator('#more-time').count()).toBe(0);
    await fillCard(last, '4242 4242 4242 4242');
    await payButton(last).click();
    await waitForHeading(last, 'Payment successful');
  });

  it('announces the receipt, shows the brand of the card on it, and prints it without links', async () => {
    const page = await newPage({ viewport: LOOKS[2].viewport });
    await page.goto(await states.open());
    await fillCard(page, '4242 4242 4242 4242');
    await payButton(page).click();
    await waitForHeading(page, 'Payment successful');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('outcome-heading');
    const receipt = (await page.locator('.receipt').innerText()).replace(/\s+/g, ' ');
    expect(receipt).toMatch(/^Amount R 123\.45 Card Visa \*\*\*\* 4242 Date .* Order \S+ Payment reference \w{18}$/);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('a:visible, button:visible').count()).toBe(0);
    await screenshot(page, 'page-receipt-on-paper');
  });

  it('paints within a second on a phone with a slow network, and needs only one request', async () => {
    const url = await states.open();
    const paints: number[] = [];
    // A paint that took longer is measured again, because other load on the machine also delays it.
    while (paints.length < MAX_LOADS && !paints.some((paint) => paint < MAX_PAINT_MS)) {
      const page = await newPage({ viewport: LOOKS[0].viewport });
      const requests: string[] = [];
      page.on('request', (request) => requests.push(new URL(request.url()).pathname));
      const phone = await page.context().newCDPSession(page);
      // "Fast 3G": 1.6 Mbit/s, 150 ms; a processor half as fast as this machine's.
      const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
      await phone.send('Network.emulateNetworkConditions', network);
      await phone.send('Emulation.setCPUThrottlingRate', { rate: 2 });
      await page.goto(url, { waitUntil: 'load' });
      paints.push(
        await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity),
      );
      expect(requests).toEqual(['/pay']);
      await closeContext(page.context());
    }
    console.log(`first contentful paint, ms: ${paints.map(Math.round).join(', ')}`);
    expect(Math.min(...paints)).toBeLessThan(MAX_PAINT_MS);
  });
});

function isInSight(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight;
}

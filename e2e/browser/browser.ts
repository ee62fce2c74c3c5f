/** A real Chromium, and a record of its errors and warnings. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const SCREENSHOTS = join(import.meta.dirname, '..', 'screenshots');
const MAX_CLOSE_MS = 5_000;

/** @param switches additional switches of Chromium */
export async function startBrowser(...switches: string[]): Promise<Browser> {
  const executablePath = process.env['SVC_CHROMIUM'];
  if (!executablePath) throw new Error('No browser: run the tests with ./svc test, or set SVC_CHROMIUM.');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...switches,
    ],
  });
}

/**
 * Closes a context, and waits at most a few seconds for it. In rare cases Chromium never confirms the command. The
 * context then ends with its browser, which Playwright kills if necessary.
 */
export async function closeContext(context: BrowserContext | undefined): Promise<void> {
  let isClosed = context === undefined;
  const closing = context?.close().finally(() => (isClosed = true));
  const late = waitUntil('the context is closed', MAX_CLOSE_MS, () => Promise.resolve(isClosed)).catch(console.warn);
  await Promise.race([closing, late]);
}

/** Records errors and warnings of the console, exceptions and error responses, in all tabs of a context. */
export function recordPageErrors(context: BrowserContext): string[] {
  const pageErrors: string[] = [];
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) pageErrors.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => pageErrors.push(`exception: ${error.message}`));
    page.on('response', (response) => {
      if (response.status() >= 400) pageErrors.push(`${response.status()}: ${new URL(response.url()).pathname}`);
    });
  });
  return pageErrors;
}

/** Takes a picture of the page for people to look at, if SVC_TEST_PICTURES is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env['SVC_TEST_PICTURES']) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** Fills in the card form, by the labels a payer reads. */
export async function fillCard(page: Page, cardNumber: string): Promise<void> {
  await page.getByLabel('Card number').fill(cardNumber);
  await page.getByLabel('Expiry date').fill('12 / 35');
  await page.getByLabel('CVV').fill('123');
  await page.getByLabel('Name on card').fill('Thandi Nkosi');
}

/** Chooses one packet of coffee (R 123.45) on the first page of the demo shop, and checks out. */
export async function checkOutCoffee(page: Page): Promise<void> {
  await page.getByLabel('Quantity of Karoo Sunrise').fill('1');
  await page.getByRole('button', { name: 'Check out' }).click();
}

export function payButton(page: Page): ReturnType<Page['getByRole']> {
  return page.getByRole('button', { name: /^Pay/ });
}

/** Waits for a heading. The page may reload meanwhile. */
export async function waitForHeading(page: Page, name: string, deadlineMs = 30_000): Promise<void> {
  await page.getByRole('heading', { name }).waitFor({ state: 'visible', timeout: deadlineMs * PATIENCE });
}

/** Waits until the tab's address passes the test. The tab may be redirected or reload meanwhile. */
export function waitForUrl(
  page: Page,
  what: string,
  test: (url: URL) => boolean,
  deadlineMs = 30_000,
): Promise<unknown> {
  return waitUntil(what, deadlineMs, () => Promise.resolve(test(new URL(page.url()))));
}

/**
 * The receipt redirects the payer to the shop after a few seconds. This function keeps the tab on the receipt until the
 * returned function is called, also on a slow machine. It answers the shop's address with a 204, because then the
 * browser stays on the page. A pending request would stall the whole tab.
 */
export async function holdReturn(page: Page, shopUrl: string): Promise<() => Promise<void>> {
  let isHeld = true;
  let heldUrl: string | undefined;
  await page.route(`${shopUrl}/return**`, async (route) => {
    if (!isHeld) return route.continue();
    heldUrl = route.request().url();
    return route.fulfill({ status: 204 });
  });
  return async () => {
    isHeld = false;
    if (heldUrl !== undefined) await page.evaluate((to) => location.replace(to), heldUrl);
  };
}

/** Options of axe for pages whose contrast another test checks. This rule takes longer than all others together. */
export const NOT_CONTRAST = { rules: { 'color-contrast': { enabled: false } } };

/**
 * Runs rules of axe on the current page, and returns the violations.
 *
 * @param options select the rules; defaults to all rules
 */
export async function axeFindings(page: Page, options: axe.RunOptions = {}): Promise<string[]> {
  // axe is loaded through the debugger, because the page's content security policy blocks other scripts. It is loaded
  // once for each document, because it is half a megabyte long.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  return page.evaluate(async (selected) => {
    // Waits for the end of all transitions, because during a transition of colours a button has the wrong colours.
    // Reading the animations starts pending transitions. In a closed <details>, a transition never ends.
    const transitions = document
      .getAnimations()
      .filter((animation) => animation instanceof CSSTransition)
      .filter(({ effect }) => (effect as KeyframeEffect | null)?.target?.checkVisibility());
    await Promise.allSettled(transitions.map(({ finished }) => finished));
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      ...selected,
      resultTypes: ['violations'],
      // axe would send messages to frames in which it is not loaded. The preview of a look is a frame without an origin, so
      // the browser would warn.
      iframes: false,
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  }, options);
}

/**
 * Corrects axe for pages in forced colours. axe reads the text colour from `-webkit-text-fill-color`. Chromium still
 * reports the style sheet's colour there, so axe computes a contrast that no one sees. `color` has the visible colour.
 */
export async function withForcedTextFill(page: Page): Promise<void> {
  await page.evaluate(() => {
    const styles = CSSStyleDeclaration.prototype;
    const { value } = Object.getOwnPropertyDescriptor(styles, 'getPropertyValue')!;
    const read = value as (this: CSSStyleDeclaration, name: string) => string;
    styles.getPropertyValue = function (name) {
      return read.call(this, name === '-webkit-text-fill-color' ? 'color' : name);
    };
  });
}

/** True if a payer must scroll sideways. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}

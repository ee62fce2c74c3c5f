/** A real Chromium, and a record of everything it complained about. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { PATIENCE, waitUntil } from '@svc/testing';

const SCREENSHOTS = join(import.meta.dirname, '..', 'screenshots');

/** @param more switches of Chromium */
export async function startBrowser(...more: string[]): Promise<Browser> {
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
      ...more,
    ],
  });
}

/** Errors, refusals of the content security policy and requests that failed, in all tabs of a context. */
export function complaintsOf(context: BrowserContext): string[] {
  const complaints: string[] = [];
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()}: ${new URL(response.url()).pathname}`);
    });
  });
  return complaints;
}

/** Keeps a picture of what the payer sees, for people. */
export async function screenshot(page: Page, name: string): Promise<void> {
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

export function payButton(page: Page): ReturnType<Page['getByRole']> {
  return page.getByRole('button', { name: /^Pay/ });
}

/** Waits for a heading, over any reloads in between. */
export async function seesHeading(page: Page, name: string, deadlineMs = 30_000): Promise<void> {
  await page.getByRole('heading', { name }).waitFor({ state: 'visible', timeout: deadlineMs * PATIENCE });
}

/** Waits until the tab is at an address, over redirects and reloads. */
export function isAt(page: Page, what: string, test: (url: URL) => boolean, deadlineMs = 30_000): Promise<unknown> {
  return waitUntil(what, deadlineMs, () => Promise.resolve(test(new URL(page.url()))));
}

/**
 * The receipt leads back to the shop by itself after a few seconds; this keeps it there until it is let go, however
 * slow the machine is. Where the shop answers 204 a browser stays; a request kept waiting would stall the whole tab.
 */
export async function holdReturn(page: Page, shopUrl: string): Promise<() => Promise<void>> {
  let isHeld = true;
  let left: string | undefined;
  await page.route(`${shopUrl}/return**`, async (route) => {
    if (!isHeld) return route.continue();
    left = route.request().url();
    return route.fulfill({ status: 204 });
  });
  return async () => {
    isHeld = false;
    if (left !== undefined) await page.evaluate((to) => location.replace(to), left);
  };
}

/** What axe finds wrong with the page as it is now, in all its rules. */
export async function axeFindings(page: Page): Promise<string[]> {
  // Through the debugger: the page's own policy lets no other script in.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    // Half-way between two colour schemes a button has the colours of neither; asking for them begins what is due.
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      resultTypes: ['violations'],
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  });
}

/**
 * Before axe looks at a page in forced colours. It takes the colour of text from `-webkit-text-fill-color`, for which Chromium goes on
 * to say the style sheet's colour, and sets it against the forced ground: a contrast that nobody sees. `color` says what is seen.
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

/** Whether a payer would have to scroll sideways. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}

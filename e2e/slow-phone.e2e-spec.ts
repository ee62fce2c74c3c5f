/**
 * Measures the payer's page on a slow phone with a slow network, for a first and a second visit: the time until the
 * first paint, the time until the form can be used, and the bytes. The network is "Slow 3G": an answer begins after 2 s
 * and has 400 kbit/s. The processor is six times slower than this machine's.
 *
 * `SVC_SLOW_PHONE_AGAINST=<address of an open payment page>` also measures that page, alternately, and prints both. It
 * may be a page of another release that runs beside this one (CONTRIBUTING.md).
 */
import { PATIENCE } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { closeContext, startBrowser } from './browser/browser.js';
import { PageStates } from './browser/page-states.js';
import { sharedPlatform } from './platform/shared-platform.js';

const NETWORK = { offline: false, latency: 2_000, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const CPU_SLOWDOWN = 6;
const ROUNDS = 2;
const MAX_PAINT_MS = 3_500 * PATIENCE;
const MAX_USABLE_MS = 4_000 * PATIENCE;
const MAX_BYTES = 29.5 * 1024;

interface Load {
  readonly paintMs: number;
  readonly usableMs: number;
  readonly bytes: number;
  readonly requests: number;
}

let browser: Browser;
let states: PageStates;
beforeAll(async () => {
  states = new PageStates(await sharedPlatform('embedded'));
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Returns the first visit, with an empty cache, and the second visit. */
async function load(url: string): Promise<readonly [Load, Load]> {
  const context = await browser.newContext({ locale: 'en-ZA', viewport: { width: 390, height: 844 } });
  try {
    const page = await context.newPage();
    const phone = await context.newCDPSession(page);
    await phone.send('Network.enable');
    await phone.send('Network.emulateNetworkConditions', NETWORK);
    await phone.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    let [bytes, requests] = [0, 0];
    phone.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
      if (encodedDataLength > 0) requests++;
    });
    const view = async (): Promise<Load> => {
      [bytes, requests] = [0, 0];
      await page.goto(url, { waitUntil: 'load' });
      return { ...(await timesOf(page)), bytes, requests };
    };
    return [await view(), await view()];
  } finally {
    await closeContext(context);
  }
}

async function timesOf(page: Page): Promise<Pick<Load, 'paintMs' | 'usableMs'>> {
  await page.locator('#pay-fields:enabled').waitFor({ state: 'visible' });
  const [paintMs = Infinity, usableMs = Infinity] = await page.evaluate(() =>
    ['first-contentful-paint', 'form-usable'].map((name) => performance.getEntriesByName(name)[0]?.startTime),
  );
  return { paintMs: Math.round(paintMs), usableMs: Math.round(usableMs) };
}

it('the page is painted and can be used within the time limits, and its size is below the limit', async () => {
  const against = process.env['SVC_SLOW_PHONE_AGAINST'];
  const pages = { 'this page': await states.open(), ...(against === undefined ? {} : { 'the other': against }) };
  const views: { readonly of: string; readonly first: Load; readonly second: Load }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    for (const [of, url] of Object.entries(pages)) {
      const [first, second] = await load(url);
      views.push({ of, first, second });
    }
  for (const view of ['first', 'second'] as const)
    console.table(views.map((each) => ({ page: each.of, view, ...each[view] })).toSorted(byPage));
  const own = views.filter(({ of }) => of === 'this page').map(({ first }) => first);
  // The fastest visit counts, because other load on the machine also delays the page.
  expect(Math.min(...own.map(({ paintMs }) => paintMs))).toBeLessThan(MAX_PAINT_MS);
  expect(Math.min(...own.map(({ usableMs }) => usableMs))).toBeLessThan(MAX_USABLE_MS);
  expect(Math.max(...own.map(({ bytes }) => bytes))).toBeLessThan(MAX_BYTES);
});

function byPage(one: { readonly page: string }, other: { readonly page: string }): number {
  return one.page.localeCompare(other.page);
}

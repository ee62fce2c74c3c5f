/**
 * Every page of the console that a link leads to, in Afrikaans, on a platform of separate processes: axe finds nothing, the
 * page does not scroll sideways on a phone, and the keyboard alone reaches everything, with a focus ring that is visible.
 * With SVC_DOCS_PICTURES=1 the pages are English, and the test writes their pictures to docs/pages/console, and the first
 * picture of the README.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE } from '@svc/testing';
import type { Page } from 'playwright-core';
import { axeFindings, scrollsSideways } from './browser/browser.js';
import { ConsoleBrowser, DESKTOP, PHONE } from './browser/console-browser.js';
import { tabThroughPage } from './browser/keyboard.js';
import { gatewayClient, newSessionRequest, onboardMerchant } from './callers/merchant.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { Platform, ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const OWNER = 'owner@karoo-coffee.example';
const TIMEOUT_MS = 400_000 * PATIENCE;
const DOCS = process.env['SVC_DOCS_PICTURES'] === '1' ? join(ROOT, 'docs') : undefined;

let platform: Platform;
let browser: ConsoleBrowser;
beforeAll(async () => {
  platform =
    DOCS === undefined
      ? await sharedPlatform('distributed')
      : await Platform.start('console-pictures', { SVC_DEMO_WEEK: 'on' });
  browser = await ConsoleBrowser.start(platform);
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.stop();
  if (DOCS !== undefined) await platform?.stop();
});
afterEach(() => browser.closePages());

/** The owner of a new merchant with one payment; for pictures, of the demo merchant with a week of trade. */
async function signInAsOwner(page: Page): Promise<void> {
  if (DOCS === undefined) {
    const site = await onboardMerchant(platform, 'Karoo Walks');
    const request = newSessionRequest('http://127.0.0.1:9/', {
      merchantOrderId: `WALK-${randomInt(1e9)}`,
      amount: 25_000,
    });
    const { redirectUrl } = await gatewayClient(platform, site).createSession(request);
    const { state } = await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));
    expect(state).toBe('succeeded');
    await browser.acceptInvitation(page, site, 'owner');
    return;
  }
  const { output } = await platform.svc('admin', 'people', 'sign-in-link', OWNER);
  await page.goto(platform.demo.consoleUrl + /\/sign-in\/links\/[\w-]+/.exec(output)![0]);
  await page.getByRole('button').first().click();
  await page.getByRole('heading', { name: /^Today/ }).waitFor();
}

async function requestPayment(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.getByRole('link', { name: 'Request a payment' }).click();
  await page.getByLabel('Amount in Rand').fill('250');
  await page.getByLabel('Description, which the payer sees').fill('Three bags of Karoo Sunrise');
  await page.getByRole('button', { name: 'Request payment' }).click();
  await page.getByText('The request was created.').waitFor();
}

/** The first address of each kind of page that can be reached, from the page that is open. Of a list, one item is opened. */
async function listPages(page: Page): Promise<string[]> {
  const found = new Map<string, string>();
  const waiting = [page.url()];
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    const kind = kindOf(url);
    if (found.has(kind)) continue;
    const { headers, text } = await page.evaluate(async (address) => {
      const response = await fetch(address);
      return { headers: response.headers.get('content-type'), text: response.ok ? await response.text() : '' };
    }, url);
    if (!headers?.startsWith('text/html') || text === '') continue;
    found.set(kind, url);
    waiting.push(...linksOf(text, url));
  }
  return [...found.values()];
}

function linksOf(html: string, base: string): string[] {
  const links = [...html.matchAll(/<a [^>]*href="([^"#]+)/g)].map(([, href]) => href!.replaceAll('&amp;', '&'));
  return links
    .map((href) => new URL(href, base))
    .filter(({ origin, pathname }) => origin === new URL(base).origin && !/\/live\b|\/language\//.test(pathname))
    .map(({ href }) => href);
}

/** The path, with a star for each id and without the query, so that items of one list are one kind. */
function kindOf(url: string): string {
  return new URL(url).pathname.replaceAll(/[\w-]*\d[\w-]*/g, '*');
}

/** The name of a page's picture: the words of its path. */
function nameOf(url: string): string {
  const words = kindOf(url)
    .split('/')
    .filter((part) => !['', '*', 'test'].includes(part));
  return [...words, ...(kindOf(url).endsWith('*') ? ['one'] : [])].join('-') || 'today';
}

/** The payment page on a phone, beside the console on a desktop. */
async function takeFirstPicture(page: Page, docs: string): Promise<void> {
  const picture = (file: string) =>
    `data:image/png;base64,${readFileSync(join(docs, 'pages', file)).toString('base64')}`;
  await page.setViewportSize({ width: 1200, height: 640 });
  await page.goto('about:blank');
  await page.setContent(`<body style="margin:0;display:flex;gap:24px;padding:24px;background:#dfe3e8;box-sizing:border-box;height:640px">
    <div style="width:290px;overflow:hidden;border-radius:16px"><img style="width:100%" src="${picture('open.png')}"></div>
    <div style="flex:1;overflow:hidden;border-radius:16px;background:#fff"><img style="width:100%" src="${picture('console/day.png')}"></div>`);
  await page.screenshot({ path: join(docs, 'images', 'first.png') });
}

it(
  'every page is accessible, fits a phone, and is used with the keyboard alone',
  async () => {
    const page = await browser.openPage();
    await signInAsOwner(page);
    await requestPayment(page);
    await page.goto(`${platform.demo.consoleUrl}/language/${DOCS === undefined ? 'af' : 'en'}`);
    await page.goto(platform.demo.consoleUrl);
    const pages = await listPages(page);
    const kinds = pages.map(nameOf);
    for (const name of [
      'today',
      'payments-one',
      'requests-one',
      'settlements',
      'disputes',
      'developers',
      'look',
      'team',
    ])
      expect(kinds).toContain(name);
    for (const url of pages) {
      await page.setViewportSize(DESKTOP);
      await page.goto(url);
      const { unreached, weakRings } = await tabThroughPage(page);
      const findings = await axeFindings(page);
      await page.setViewportSize(PHONE);
      const isTooWide = await scrollsSideways(page);
      expect({ url, unreached, weakRings, findings, isTooWide }).toEqual({
        url,
        unreached: [],
        weakRings: [],
        findings: [],
        isTooWide: false,
      });
      if (DOCS !== undefined) await browser.takePictures(page, join(DOCS, 'pages', 'console'), nameOf(url));
    }
    if (DOCS !== undefined) {
      // Today may be before the shops have opened.
      await page.goto(pages[0]!);
      await page.locator('.other-days a').first().click();
      await browser.takePictures(page, join(DOCS, 'pages', 'console'), 'day');
      await takeFirstPicture(page, DOCS);
    }
  },
  TIMEOUT_MS,
);

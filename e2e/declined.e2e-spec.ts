/**
 * After a decline the payer continues on the same form. The form keeps all fields except the CVV, and marks the field
 * that the issuer rejected. After a decline on another device, a half-typed card stays in the form.
 */
import { PATIENCE } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  closeContext,
  fillCard,
  holdReturn,
  payButton,
  screenshot,
  startBrowser,
  waitForHeading,
} from './browser/browser.js';
import { PageStates } from './browser/page-states.js';
import { sharedPlatform } from './platform/shared-platform.js';

const DECLINED = '4000 0000 0000 0002';
const WRONG_CVV = '4000 0000 0000 0127';
const APPROVED = '4242 4242 4242 4242';
const SHOP = 'http://127.0.0.1:9';

let browser: Browser;
let states: PageStates;
let context: BrowserContext;
let url: string;
let amount = 30_000;
beforeAll(async () => {
  states = new PageStates(await sharedPlatform('embedded'));
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-ZA', viewport: { width: 390, height: 844 } });
  url = await states.open({ amount: ++amount });
});
afterEach(() => closeContext(context));

const CARD = ['Card number', 'Expiry date', 'CVV', 'Name on card'] as const;
const inputValues = (page: Page): Promise<string[]> =>
  Promise.all(CARD.map((label) => page.getByLabel(label).inputValue()));
const waitForText = (page: Page, text: string): Promise<void> =>
  page.getByText(text).waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });

async function newTab(): Promise<Page> {
  const page = await context.newPage();
  await holdReturn(page, SHOP);
  await page.goto(url);
  await waitForHeading(page, 'Pay by card');
  return page;
}

it('after a wrong CVV the form keeps the other fields, requires the CVV again, and sends another payment', async () => {
  const page = await newTab();
  const references: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/payments'))
      references.push((request.postDataJSON() as { reference: string }).reference);
  });
  await fillCard(page, WRONG_CVV);
  const before = await inputValues(page);
  await payButton(page).click();
  await waitForText(page, 'Check the CVV on your card or in the app of your bank, and try again.');
  await waitForText(page, 'You have 4 of 5 attempts left.');
  expect(await inputValues(page)).toEqual([before[0], before[1], '', before[3]]);
  const cvv = page.getByLabel('CVV');
  expect(await cvv.evaluate((input) => input === input.ownerDocument.activeElement)).toBe(true);
  expect(await cvv.getAttribute('aria-invalid')).toBe('true');
  expect(await page.title()).toMatch(/^The CVV is not correct · Pay /);
  await screenshot(page, 'declined-wrong-cvv');

  await fillCard(page, APPROVED);
  await payButton(page).click();
  await waitForHeading(page, 'Payment successful');
  expect(new Set(references).size).toBe(2);
});

it('after a decline without a reason the form keeps its fields too, and a reload still shows the decline', async () => {
  const page = await newTab();
  await fillCard(page, DECLINED);
  await payButton(page).click();
  await waitForText(page, 'Your bank declined the payment');
  expect((await inputValues(page)).map((text) => text !== '')).toEqual([true, true, false, true]);
  await page.reload();
  await waitForText(page, 'Your bank declined the payment');
  await waitForText(page, 'You have 4 of 5 attempts left.');
  expect(await inputValues(page)).toEqual(['', '', '', '']);
});

it('after a decline on another device the form keeps a half-typed card', async () => {
  const [first, second] = [await newTab(), await newTab()];
  await first.bringToFront();
  await first.getByLabel('Card number').fill('4242 4242');
  await fillCard(second, DECLINED);
  await payButton(second).click();
  await waitForText(second, 'Your bank declined the payment');
  await first.bringToFront();
  await waitForText(first, 'A payment on another device did not succeed.');
  expect(await first.getByLabel('Card number').inputValue()).toBe('4242 4242');
  expect(await first.getByText('Your bank declined').count()).toBe(0);
  await screenshot(first, 'declined-elsewhere');
  await fillCard(first, APPROVED);
  await payButton(first).click();
  await waitForHeading(first, 'Payment successful');
});

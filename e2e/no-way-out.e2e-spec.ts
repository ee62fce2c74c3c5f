/**
 * While a charge is possible, no link on the page leads away. Otherwise the shop would show an unpaid order, and the
 * payer might pay a second time. The tests check each state between Pay and the outcome, and the time between two
 * states.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { closeContext, fillCard, holdReturn, payButton, startBrowser, waitForHeading } from './browser/browser.js';
import { PageStates, VERIFIED } from './browser/page-states.js';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const APPROVED = '4242 4242 4242 4242';
/** The acquirer charges this card, but the answer is lost. */
const ANSWER_LOST = '4000 0000 0000 4087';
const SHOP = 'http://127.0.0.1:9';

let platform: Platform;
let browser: Browser;
let states: PageStates;
let context: BrowserContext;
let page: Page;
let url: string;
let amount = 40_000;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  states = new PageStates(platform);
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-ZA', viewport: { width: 390, height: 844 } });
  url = await states.open({ amount: ++amount });
  page = await newTab(url);
});
afterEach(() => closeContext(context));

async function newTab(address: string): Promise<Page> {
  const tab = await context.newPage();
  await holdReturn(tab, SHOP);
  await tab.goto(address);
  return tab;
}

async function pay(tab: Page, cardNumber = APPROVED): Promise<void> {
  await fillCard(tab, cardNumber);
  await payButton(tab).click();
}

/** The visible ways to leave the page, without the browser's own buttons and the links to other languages. */
function visibleExits(tab: Page): Promise<string[]> {
  return tab.evaluate(() => {
    const elements = [...document.querySelectorAll<HTMLElement>('a[href], form, button, area[href]')];
    return elements
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .filter((element) => !(element.getAttribute('href') ?? '').includes('lang='))
      .map((element) => `${element.tagName} ${element.id} ${element.textContent.trim()}`);
  });
}

async function expectNoExit(heading: string, tab = page): Promise<void> {
  await waitForHeading(tab, heading);
  expect([heading, await visibleExits(tab)]).toEqual([heading, []]);
}

const waitForCharge = (): Promise<unknown> =>
  waitUntil('the charge', 20_000, () =>
    Promise.resolve(platform.charges().some((line) => line.amount === amount && line.outcome === 'approved')),
  );

// Without this test, the next tests would also pass if the page never had a link or button.
it('the form has visible links and buttons before the payer presses Pay', async () => {
  await waitForHeading(page, 'Pay by card');
  expect((await visibleExits(page)).join()).toContain('Back to store');
});

it('no link or button is visible while the request runs, or when it is slow', async () => {
  await page.clock.install();
  await page.goto(url);
  await page.route('**/payments', () => Promise.resolve());
  await pay(page);
  await expectNoExit('Sending your payment…');
  // Meanwhile no field contains the card, not even a hidden field.
  expect(
    await page.locator('input').evaluateAll((inputs) => inputs.map((each) => (each as HTMLInputElement).value)),
  ).toEqual(['', '', '', '']);
  await page.clock.fastForward(11_000);
  await expectNoExit('This is taking longer than usual');
});

it('no link or button is visible while the card is still being encrypted', async () => {
  await page.evaluate(() => {
    crypto.subtle.encrypt = () => new Promise<never>(() => undefined);
    crypto.subtle.generateKey = () => new Promise<never>(() => undefined);
  });
  await pay(page);
  await expectNoExit('Sending your payment…');
});

it('no link or button is visible while the page is offline', async () => {
  await fillCard(page, APPROVED);
  await context.setOffline(true);
  await payButton(page).click();
  await expectNoExit('You are offline');
});

it('no link or button is visible while it is unknown whether the request arrived', async () => {
  let sent = 0;
  await page.route('**/payments', (route) => (++sent === 1 ? route.abort('connectionreset') : Promise.resolve()));
  await page.route('**/state', (route) => route.abort('connectionreset'));
  await page.route('**/events', (route) => route.abort('connectionreset'));
  await pay(page);
  await page.getByText('Still checking with your bank. Do not pay again.').waitFor({ state: 'visible' });
  expect(await visibleExits(page)).toEqual([]);
});

it('no link or button is visible while the acquirer processes the payment', async () => {
  await pay(page, ANSWER_LOST);
  await expectNoExit('Confirming with your bank…');
});

it('no link or button is visible while a payment is processing: after a reload, in another tab, and after the back button', async () => {
  // A payment with the acquirer's lost answer would be processing only for some seconds.
  const processing = await states.processing();
  await page.goto(processing);
  await expectNoExit('Confirming with your bank…');
  await page.reload();
  await expectNoExit('Confirming with your bank…');
  const second = await newTab(processing);
  await expectNoExit('Confirming with your bank…', second);
  await second.goto(`${platform.demo.gatewayUrl}/pay?sessionId=elsewhere`);
  await second.goBack();
  await expectNoExit('Confirming with your bank…', second);
});

it('no link or button is visible beside a half-typed card while another tab pays', async () => {
  await page.getByLabel('Card number').fill('4242 4242');
  const setPayableState = (state: string): Promise<string> =>
    states.updateSession(
      url,
      `UPDATE hosted_gateway.sessions SET payable_state = $2, payable_version = payable_version + 1 WHERE session_id = $1`,
      state,
    );
  await setPayableState('reserved');
  await page.bringToFront();
  const back = page.getByRole('link', { name: 'Back to store' });
  await back.waitFor({ state: 'hidden', timeout: 20_000 * PATIENCE });
  expect(await page.getByLabel('Card number').inputValue()).toBe('4242 4242');
  await setPayableState('open');
  await back.waitFor({ state: 'visible', timeout: 20_000 * PATIENCE });
});

it('while the bank requires a verification, the only ways out are the bank’s page and another card', async () => {
  await page.goto(await states.paidWith(VERIFIED));
  await waitForHeading(page, 'Confirm the payment with your bank');
  expect((await visibleExits(page)).map((each) => each.split(' ').slice(1).join(' ').trim())).toEqual([
    'verification-link Continue to your bank',
    'Use another card',
  ]);
});

it(
  'a link that was clicked before Pay has no effect after Pay',
  async () => {
    // The shop is slow, and until it answers, the page can still be used. The shop answers after the charge.
    const pendingResponses: ServerResponse[] = [];
    const shop = createServer((_request, response) => void pendingResponses.push(response));
    await once(shop.listen(0, '127.0.0.1'), 'listening');
    try {
      const cancelUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/cancel`;
      await page.goto(await states.open({ amount, cancelUrl }));
      await fillCard(page, ANSWER_LOST);
      // Both actions are in one script, because the test driver would wait for the shop before it clicks Pay.
      await page.evaluate(`
        document.querySelector('nav a.back').click();
        setTimeout(() => document.getElementById('pay-form').requestSubmit(), 500);
      `);
      await waitForCharge();
      for (const response of pendingResponses) response.setHeader('content-type', 'text/html').end('<h1>The shop</h1>');
      await waitForHeading(page, 'Payment successful');
      expect(pendingResponses).toHaveLength(1);
    } finally {
      shop.closeAllConnections();
      shop.close();
    }
  },
  90_000 * PATIENCE,
);

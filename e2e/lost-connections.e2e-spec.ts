/**
 * Lost connections and other interruptions during a payment: the page shows that it is still checking, finds the outcome by
 * itself, and the card is charged once. Also the issuer's verification: confirmed, refused, and left unfinished.
 */
import { waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { fillCard, holdReturn, payButton, screenshot, seesHeading, startBrowser } from './browser/browser.js';
import { PageStates } from './browser/page-states.js';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const APPROVED = '4242 4242 4242 4242';
/** Charged, and the answer is lost. */
const ANSWER_LOST = '4000 0000 0000 4087';
const VERIFIED = '4000 0000 0000 3220';
const STILL_CHECKING = 'Still checking with your bank. Do not pay again.';
const SHOP = 'http://127.0.0.1:9';

let platform: Platform;
let browser: Browser;
let states: PageStates;
/** Different in each session, to identify its charges at the acquirer. */
let amount = 20_000;

beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  browser = await startBrowser();
  states = new PageStates(platform);
});
afterAll(async () => {
  await browser?.close();
});

describe.each([
  ['phone-dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ['desktop-light', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
] as const)('on a %s', (look, options) => {
  let context: BrowserContext;
  let page: Page;
  let url: string;
  /** References with which this payer's browser has sent a payment. */
  let references: string[];

  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en-ZA', ...options });
    references = [];
    context.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/payments'))
        references.push((request.postDataJSON() as { reference: string }).reference);
    });
    url = await states.open({ amount: ++amount });
    page = await newTab();
  });
  afterEach(() => context.close());

  async function newTab(): Promise<Page> {
    const tab = await context.newPage();
    await holdReturn(tab, SHOP);
    await tab.goto(url);
    return tab;
  }
  async function pay(cardNumber: string): Promise<void> {
    await seesHeading(page, 'Pay by card');
    await fillCard(page, cardNumber);
    await payButton(page).click();
  }
  const seesText = (text: string): Promise<void> => page.getByText(text).first().waitFor({ state: 'visible' });
  const onPosts = (handle: (route: Route) => Promise<void>): Promise<unknown> => page.route('**/payments', handle);
  const standing = (): number =>
    platform.charges().filter((line) => line.amount === amount && line.outcome === 'approved').length;
  async function isPaidOnce(tab = page): Promise<void> {
    await seesHeading(tab, 'Payment successful');
    expect(standing()).toBe(1);
  }

  it('the answer is lost after the charge', async () => {
    await onPosts(async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await pay(APPROVED);
    await isPaidOnce();
  });

  it('the first request is lost: the page sends it again, as the same payment', async () => {
    let lost = 0;
    await onPosts((route) => (++lost <= 2 ? route.abort('connectionfailed') : route.continue()));
    await pay(APPROVED);
    await isPaidOnce();
    expect([references.length, new Set(references).size]).toEqual([3, 1]);
  });

  it('the network fails and recovers', async () => {
    await seesHeading(page, 'Pay by card');
    await fillCard(page, APPROVED);
    await context.setOffline(true);
    await payButton(page).click();
    await seesHeading(page, 'You are offline');
    await seesText('Your payment was not sent yet, and nothing was charged.');
    await screenshot(page, `lost-offline-${look}`);
    expect(await payButton(page).isVisible()).toBe(false);
    // The shop would show the payer an unpaid order.
    expect(await page.getByRole('link', { name: 'Back to store' }).isVisible()).toBe(false);
    await context.setOffline(false);
    await isPaidOnce();
    expect(new Set(references).size).toBe(1);
  });

  it('the network stays down: the form returns only after many tries, and sends the same payment', async () => {
    await onPosts((route) => route.abort('connectionfailed'));
    await pay(APPROVED);
    await seesText('press Pay again: you will not be charged twice');
    await screenshot(page, `lost-not-sent-${look}`);
    expect(await page.getByRole('link', { name: 'Back to store' }).isVisible()).toBe(true);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await holdReturn(page, SHOP);
    await payButton(page).click();
    await isPaidOnce();
    expect(new Set(references).size).toBe(1);
  });

  it('a captive portal answers instead: the page sends again, as the same payment', async () => {
    let answered = 0;
    const portal = { status: 200, contentType: 'text/html', body: '<h1>Log in to this network</h1>' };
    await onPosts((route) => (++answered === 1 ? route.fulfill(portal) : route.continue()));
    await pay(APPROVED);
    await isPaidOnce();
    expect([references.length, new Set(references).size]).toEqual([2, 1]);
  });

  it('a reload during the request, which never arrives', async () => {
    // The request hangs until the reload aborts it.
    let sent = 0;
    await onPosts((route) => (++sent === 1 ? Promise.resolve() : route.continue()));
    await pay(APPROVED);
    await seesHeading(page, 'Sending your payment…');
    await page.reload();
    await seesText(STILL_CHECKING);
    await seesText('press Pay again: you will not be charged twice');
    await pay(APPROVED);
    await isPaidOnce();
    expect([references.length, new Set(references).size]).toEqual([2, 1]);
  });

  it('a reload while the outcome is unknown: the page finds it by itself', async () => {
    await pay(ANSWER_LOST);
    await seesHeading(page, 'Confirming with your bank…');
    await page.reload();
    await seesHeading(page, 'Confirming with your bank…');
    expect(await payButton(page).count()).toBe(0);
    await isPaidOnce();
  });

  it('a second tab while the outcome is unknown: no form there either, and both find the outcome', async () => {
    await pay(ANSWER_LOST);
    await seesHeading(page, 'Confirming with your bank…');
    const second = await newTab();
    await seesHeading(second, 'Confirming with your bank…');
    expect(await payButton(second).count()).toBe(0);
    await Promise.all([isPaidOnce(page), isPaidOnce(second)]);
  });

  it('the back button shows the current state, not the form', async () => {
    await pay(APPROVED);
    await isPaidOnce();
    await page.goto(`${platform.demo.gatewayUrl}/pay?sessionId=elsewhere`);
    await page.goBack();
    await isPaidOnce();
    expect(await payButton(page).count()).toBe(0);
  });

  it('the stream is blocked: the page polls', async () => {
    await page.route('**/events', (route) => route.abort('connectionrefused'));
    await pay(ANSWER_LOST);
    await isPaidOnce();
  });

  it('polling is blocked: the page gets the outcome from the stream', async () => {
    let polls = 0;
    await page.route('**/state', (route) => (++polls === 1 ? route.continue() : route.abort('connectionrefused')));
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'eventsource') streams.push(request.url());
    });
    await pay(ANSWER_LOST);
    await isPaidOnce();
    expect(streams.length).toBeGreaterThan(0);
  });

  it('a slow payment: the page shows that it is slow, and what the payer can do', async () => {
    await page.clock.install();
    await page.goto(url);
    await onPosts(() => Promise.resolve());
    await pay(APPROVED);
    await seesHeading(page, 'Sending your payment…');
    await page.clock.fastForward(11_000);
    await seesHeading(page, 'This is taking longer than usual');
    await seesText(STILL_CHECKING);
    await screenshot(page, `lost-late-${look}`);
  });

  describe('the bank asks who is paying', () => {
    const BANK = 'Is this payment yours?';
    const confirm = (): Promise<void> => page.getByRole('button', { name: 'Confirm the payment' }).click();

    it('the payer confirms: the payment succeeds', async () => {
      await pay(VERIFIED);
      await seesHeading(page, BANK);
      expect(standing()).toBe(0);
      await screenshot(page, `verification-bank-${look}`);
      await confirm();
      await isPaidOnce();
    });

    it('the verification is refused: the page shows it, and accepts another card', async () => {
      await pay(VERIFIED);
      await page.getByRole('button', { name: 'It is not mine' }).click();
      await seesText('Your bank could not verify you');
      await screenshot(page, `verification-refused-${look}`);
      await pay(APPROVED);
      await isPaidOnce();
    });

    it('the payer leaves the bank’s page: our page links to it again, or accepts another card; a later confirmation charges nothing', async () => {
      await pay(VERIFIED);
      await seesHeading(page, BANK);
      const bank = page.url();
      await page.goBack();
      await seesHeading(page, 'Confirm the payment with your bank');
      await page.getByRole('link', { name: 'Use another card' }).click();
      await pay(APPROVED);
      await isPaidOnce();
      await page.goto(bank);
      await confirm();
      await isPaidOnce();
    });

    it('the payer confirms elsewhere: the waiting page shows the payment by itself', async () => {
      await pay(VERIFIED);
      await seesHeading(page, BANK);
      const bank = page.url();
      await page.goBack();
      await seesHeading(page, 'Confirm the payment with your bank');
      await fetch(bank, { method: 'POST', body: new URLSearchParams({ answer: 'confirm' }), redirect: 'manual' });
      await isPaidOnce();
    });

    it('the payer never finishes: the payment fails after 15 minutes, and the page shows it', async () => {
      await pay(VERIFIED);
      await seesHeading(page, BANK);
      const past = new Date(Date.now() - 1_000);
      const sessionId = new URL(url).searchParams.get('sessionId');
      await platform.sql(
        `UPDATE payment_processor.verifications v SET expires_at = $2 FROM payment_processor.payments p
          WHERE p.payment_id = v.payment_id AND p.payable_id = $1`,
        [sessionId, past],
      );
      await waitUntil('the end of the payment', 10_000, async () => {
        const [row] = await platform.sql<{ state: string }>(
          `SELECT state FROM payment_processor.payments WHERE payable_id = $1`,
          [sessionId],
        );
        return row?.state === 'failed';
      });
      await page.goto(url);
      await seesText('The verification was not finished');
      expect(standing()).toBe(0);
    });
  });
});

/**
 * Lost connections and other interruptions during a payment. The page shows that it is still checking and finds the
 * outcome by itself, and the card is charged once. Other tests check the issuer's verification: confirmed, refused, and
 * left unfinished. The payer has a phone; page-states.e2e-spec.ts checks the other sizes and colours of the page.
 */
import { waitUntil } from '@svc/testing';
import type pg from 'pg';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
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
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const APPROVED = '4242 4242 4242 4242';
/** The acquirer charges this card, but the answer is lost. */
const ANSWER_LOST = '4000 0000 0000 4087';
const VERIFIED = '4000 0000 0000 3220';
const STILL_CHECKING = 'Still checking with your bank. Do not pay again.';
const SHOP = 'http://127.0.0.1:9';
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

let platform: Platform;
let browser: Browser;
let states: PageStates;
/** Each session has a different amount, which identifies the session's charges at the acquirer. */
let amount = 20_000;

beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  browser = await startBrowser();
  states = new PageStates(platform);
});
afterAll(async () => {
  await browser?.close();
});

describe('the payment page', () => {
  let context: BrowserContext;
  let page: Page;
  let url: string;
  let holder: pg.Client | undefined;
  /** References with which this payer's browser has sent a payment. */
  let references: string[];

  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en-ZA', ...PHONE });
    references = [];
    context.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/payments'))
        references.push((request.postDataJSON() as { reference: string }).reference);
    });
    url = await states.open({ amount: ++amount });
    page = await newTab();
  });
  afterEach(async () => {
    await releaseUnknown();
    await closeContext(context);
  });

  /**
   * Locks the attempt as soon as its outcome is unknown, so that the platform cannot find the outcome before it is
   * released, however slow the browser is. The platform would find it after two seconds.
   */
  async function holdUnknown(): Promise<void> {
    holder = await platform.sqlClient();
    await holder.query('BEGIN');
    const lock = `SELECT FROM payment_processor.attempts a JOIN payment_processor.payments p USING (payment_id)
                   WHERE p.payable_id = $1 AND a.state = 'unknown' FOR UPDATE OF a`;
    const sessionId = new URL(url).searchParams.get('sessionId');
    await waitUntil(
      'the unknown outcome',
      30_000,
      async () => (await holder!.query(lock, [sessionId])).rowCount === 1,
      20,
    );
  }
  async function releaseUnknown(): Promise<void> {
    await holder?.end();
    holder = undefined;
  }

  async function newTab(): Promise<Page> {
    const tab = await context.newPage();
    await holdReturn(tab, SHOP);
    await tab.goto(url);
    return tab;
  }
  async function pay(cardNumber: string): Promise<void> {
    await waitForHeading(page, 'Pay by card');
    await fillCard(page, cardNumber);
    await payButton(page).click();
  }
  const seesText = (text: string): Promise<void> => page.getByText(text).first().waitFor({ state: 'visible' });
  const onPosts = (handle: (route: Route) => Promise<void>): Promise<unknown> => page.route('**/payments', handle);
  const countCharges = (): number =>
    platform.charges().filter((line) => line.amount === amount && line.outcome === 'approved').length;
  async function expectPaidOnce(tab = page): Promise<void> {
    await waitForHeading(tab, 'Payment successful');
    expect(countCharges()).toBe(1);
  }

  it('when the response is lost after the charge, the page shows the payment, which is charged once', async () => {
    await onPosts(async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await pay(APPROVED);
    await expectPaidOnce();
  });

  it('when the first requests are lost, the page repeats them as the same payment', async () => {
    let lost = 0;
    await onPosts((route) => (++lost <= 2 ? route.abort('connectionfailed') : route.continue()));
    await pay(APPROVED);
    await expectPaidOnce();
    expect([references.length, new Set(references).size]).toEqual([3, 1]);
  });

  it('while the network is down, the page shows that it is offline, and it sends the payment when the network is back', async () => {
    await waitForHeading(page, 'Pay by card');
    await fillCard(page, APPROVED);
    await context.setOffline(true);
    await payButton(page).click();
    await waitForHeading(page, 'You are offline');
    await seesText('Your payment was not sent yet, and nothing was charged.');
    await screenshot(page, 'lost-offline');
    expect(await payButton(page).isVisible()).toBe(false);
    // There is no link to the shop, because the shop would show the payer an unpaid order.
    expect(await page.getByRole('link', { name: 'Back to store' }).isVisible()).toBe(false);
    await context.setOffline(false);
    await expectPaidOnce();
    expect(new Set(references).size).toBe(1);
  });

  it('when the network stays down, the form returns after several tries and then sends the same payment', async () => {
    await onPosts((route) => route.abort('connectionfailed'));
    await pay(APPROVED);
    await seesText('press Pay again: you will not be charged twice');
    await screenshot(page, 'lost-not-sent');
    expect(await page.getByRole('link', { name: 'Back to store' }).isVisible()).toBe(true);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await holdReturn(page, SHOP);
    await payButton(page).click();
    await expectPaidOnce();
    expect(new Set(references).size).toBe(1);
  });

  it('when a captive portal responds, the page repeats the request as the same payment', async () => {
    let answered = 0;
    const portal = { status: 200, contentType: 'text/html', body: '<h1>Log in to this network</h1>' };
    await onPosts((route) => (++answered === 1 ? route.fulfill(portal) : route.continue()));
    await pay(APPROVED);
    await expectPaidOnce();
    expect([references.length, new Set(references).size]).toEqual([2, 1]);
  });

  it('after a reload during a request that never arrives, the form returns and sends another payment', async () => {
    // The request hangs until the reload aborts it.
    let sent = 0;
    await onPosts((route) => (++sent === 1 ? Promise.resolve() : route.continue()));
    await pay(APPROVED);
    await waitForHeading(page, 'Sending your payment…');
    await page.reload();
    await seesText(STILL_CHECKING);
    await seesText('press Pay again: you will not be charged twice');
    await pay(APPROVED);
    await expectPaidOnce();
    expect([references.length, new Set(references).size]).toEqual([2, 1]);
  });

  it('after a reload while the outcome is unknown, the page finds the outcome without the payer', async () => {
    const unknown = holdUnknown();
    await pay(ANSWER_LOST);
    await waitForHeading(page, 'Confirming with your bank…');
    await unknown;
    await page.reload();
    await waitForHeading(page, 'Confirming with your bank…');
    expect(await payButton(page).count()).toBe(0);
    await releaseUnknown();
    await expectPaidOnce();
  });

  it('while the outcome is unknown, a second tab shows no form either, and both tabs find the outcome', async () => {
    const unknown = holdUnknown();
    await pay(ANSWER_LOST);
    await waitForHeading(page, 'Confirming with your bank…');
    await unknown;
    const second = await newTab();
    await waitForHeading(second, 'Confirming with your bank…');
    expect(await payButton(second).count()).toBe(0);
    await releaseUnknown();
    await Promise.all([expectPaidOnce(page), expectPaidOnce(second)]);
  });

  it('the back button shows the current state, not the form', async () => {
    await pay(APPROVED);
    await expectPaidOnce();
    await page.goto(`${platform.demo.gatewayUrl}/pay?sessionId=elsewhere`);
    await page.goBack();
    await expectPaidOnce();
    expect(await payButton(page).count()).toBe(0);
  });

  it('when the stream is blocked, the page polls for the outcome', async () => {
    await page.route('**/events', (route) => route.abort('connectionrefused'));
    await pay(ANSWER_LOST);
    await expectPaidOnce();
  });

  it('when polling is blocked, the page gets the outcome from the stream', async () => {
    let polls = 0;
    await page.route('**/state', (route) => (++polls === 1 ? route.continue() : route.abort('connectionrefused')));
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'eventsource') streams.push(request.url());
    });
    await pay(ANSWER_LOST);
    await expectPaidOnce();
    expect(streams.length).toBeGreaterThan(0);
  });

  it('the page shows that a payment is slow, and what the payer can do', async () => {
    await page.clock.install();
    await page.goto(url);
    await onPosts(() => Promise.resolve());
    await pay(APPROVED);
    await waitForHeading(page, 'Sending your payment…');
    await page.clock.fastForward(11_000);
    await waitForHeading(page, 'This is taking longer than usual');
    await seesText(STILL_CHECKING);
    await screenshot(page, 'lost-late');
  });

  describe('a verification by the issuer', () => {
    const BANK = 'Is this payment yours?';
    const confirm = (): Promise<void> => page.getByRole('button', { name: 'Confirm the payment' }).click();

    it('makes the payment succeed after the payer has confirmed', async () => {
      await pay(VERIFIED);
      await waitForHeading(page, BANK);
      expect(countCharges()).toBe(0);
      await screenshot(page, 'verification-bank');
      await confirm();
      await expectPaidOnce();
    });

    it('is shown as refused after a refusal, and the page accepts another card', async () => {
      await pay(VERIFIED);
      await page.getByRole('button', { name: 'It is not mine' }).click();
      await seesText('Your bank could not verify you');
      await screenshot(page, 'verification-refused');
      await pay(APPROVED);
      await expectPaidOnce();
    });

    it('can be left by the payer: our page links back to it and accepts another card, and a later confirmation charges nothing', async () => {
      await pay(VERIFIED);
      await waitForHeading(page, BANK);
      const bank = page.url();
      await page.goBack();
      await waitForHeading(page, 'Confirm the payment with your bank');
      await page.getByRole('link', { name: 'Use another card' }).click();
      await pay(APPROVED);
      await expectPaidOnce();
      await page.goto(bank);
      await confirm();
      await expectPaidOnce();
    });

    it('can be confirmed on another device, and the waiting page then shows the payment', async () => {
      await pay(VERIFIED);
      await waitForHeading(page, BANK);
      const bank = page.url();
      await page.goBack();
      await waitForHeading(page, 'Confirm the payment with your bank');
      await fetch(bank, { method: 'POST', body: new URLSearchParams({ answer: 'confirm' }), redirect: 'manual' });
      await expectPaidOnce();
    });

    it('fails the payment after 15 minutes without a confirmation, and the page shows the reason', async () => {
      await pay(VERIFIED);
      await waitForHeading(page, BANK);
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
      expect(countCharges()).toBe(0);
    });
  });
});

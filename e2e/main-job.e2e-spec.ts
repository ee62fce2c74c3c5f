/** A payer's way through shop, payment page and receipt, in a real browser, on both deployments. */
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  checkOutCoffee,
  closeContext,
  fillCard,
  holdReturn,
  payButton,
  recordPageErrors,
  screenshot,
  startBrowser,
  waitForHeading,
  waitForUrl,
} from './browser/browser.js';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

/** The acquirer answers so late for this card that the test can reload the page before the answer. */
const ANSWERS_LATE = '4000 0000 0000 6009';

describe.each([
  ['all services in one process', 'embedded'],
  ['a process for each service, over RabbitMQ', 'distributed'],
] as const)('the demo shop and the payment page, with %s', (_, mode) => {
  let platform: Platform;
  let browser: Browser;
  let context: BrowserContext;
  let pageErrors: string[] = [];
  let page: Page;

  beforeAll(async () => {
    platform = await sharedPlatform(mode);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en-ZA', viewport: { width: 1024, height: 768 } });
    pageErrors = recordPageErrors(context);
    page = await context.newPage();
  });
  // No step of any test may cause an error or a blocked resource.
  afterEach(async () => {
    await closeContext(context);
    expect(pageErrors).toEqual([]);
  });

  const checkOut = async (): Promise<string> => {
    await page.goto(platform.demo.shopUrl);
    await checkOutCoffee(page);
    await waitForUrl(
      page,
      'the payment page',
      (url) => url.origin === platform.demo.gatewayUrl && url.pathname === '/pay',
    );
    return page.url();
  };
  /** The order's page reloads itself all the time, so a click during a reload is repeated. */
  const goToPayment = (): Promise<unknown> =>
    waitUntil('the payment page', 30_000, async () => {
      if (new URL(page.url()).pathname === '/pay') return true;
      await page.getByRole('button', { name: 'Go to payment' }).click({ timeout: 5_000 });
      return new URL(page.url()).pathname === '/pay';
    });
  /** Postpones the recovery job's query, which would end the payment after 2 s, before the acquirer's response. */
  const postponeStatusQuery = (): Promise<unknown> =>
    waitUntil('the attempt', 10_000, async () => {
      const later = new Date(Date.now() + 60_000);
      const sessionId = new URL(page.url()).searchParams.get('sessionId');
      const updated = await platform.sql(
        `UPDATE payment_processor.attempts a SET next_query_at = $1 FROM payment_processor.payments p
          WHERE p.payment_id = a.payment_id AND p.payable_id = $2 AND a.state = 'started' RETURNING 1`,
        [later, sessionId],
      );
      return updated.length > 0;
    });
  const orderState = (): Promise<string | null> => page.locator('#order-state').getAttribute('data-state');
  const seesOrderPaid = (): Promise<void> =>
    page.locator('#order-state[data-state="paid"]').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
  const chargesOf = (paymentReference: string): number =>
    platform.charges().filter((line) => line.paymentReference === paymentReference && line.outcome === 'approved')
      .length;

  it('the page accepts a card and shows the current state after a reload; the webhook sets the order to paid', async () => {
    await page.goto(platform.demo.shopUrl);
    await screenshot(page, 'approved-1-shop');
    await page.getByLabel('Quantity of Enamel Mug').fill('2');
    await checkOutCoffee(page);
    await waitForHeading(page, 'Pay by card');
    const paymentPage = page.url();
    expect(paymentPage).toMatch(new RegExp(`^${platform.demo.gatewayUrl}/pay\\?sessionId=`));
    const shown = await page.locator('main').innerText();
    expect(shown).toContain('Karoo Roastery');
    expect(shown).toContain('R 321.45');
    expect(shown).toContain('2 × R 99.00');
    expect(shown).toContain('Karoo Sunrise');
    await screenshot(page, 'approved-2-payment-page');

    const allowReturn = await holdReturn(page, platform.demo.shopUrl);
    await fillCard(page, ANSWERS_LATE);
    expect(await payButton(page).innerText()).toContain('R 321.45');
    await screenshot(page, 'approved-3-filled-in');
    await payButton(page).click();
    await postponeStatusQuery();
    await waitForHeading(page, 'Confirming with your bank…');
    await screenshot(page, 'approved-4-processing');
    await page.reload();
    await waitForHeading(page, 'Confirming with your bank…');
    expect(await payButton(page).count()).toBe(0);
    await screenshot(page, 'approved-5-processing-after-reload');

    await waitForHeading(page, 'Payment successful');
    await screenshot(page, 'approved-6-receipt');
    const receipt = await page.locator('main').innerText();
    const paymentReference = /[0-9A-HJKMNP-TV-Z]{18}/.exec(receipt)?.[0] ?? 'none on the receipt';

    await allowReturn();
    await waitForUrl(page, 'the shop', (url) => url.origin === platform.demo.shopUrl);
    await seesOrderPaid();
    await screenshot(page, 'approved-7-order-paid');
    expect(await page.locator('#payment-reference').innerText()).toBe(paymentReference);
    expect(chargesOf(paymentReference)).toBe(1);

    // Later, the page shows that the order is already paid.
    await platform.sql(
      `UPDATE hosted_gateway.hosted_payments
       SET snapshot = jsonb_set(snapshot::jsonb, '{modifiedUTCDate}', to_jsonb($2::text))::json WHERE payment_reference = $1`,
      [paymentReference, new Date(Date.now() - 600_000).toISOString()],
    );
    await page.goto(paymentPage);
    await waitForHeading(page, 'This order is already paid');
    expect(await payButton(page).count()).toBe(0);
    await screenshot(page, 'approved-8-already-paid');
  });

  it('the page replaces a form that was rendered before the payment arrived', async () => {
    const allowReturn = await holdReturn(page, platform.demo.shopUrl);
    const paymentPage = await checkOut();
    const formBeforePayment = await context.request.get(paymentPage);
    await fillCard(page, ANSWERS_LATE);
    await payButton(page).click();
    await postponeStatusQuery();
    await waitForHeading(page, 'Confirming with your bank…');
    // The server had rendered this form before the payment arrived.
    await page.route(paymentPage, (route) => route.fulfill({ response: formBeforePayment }), { times: 1 });
    await page.reload();
    await waitForHeading(page, 'Confirming with your bank…');
    await waitForHeading(page, 'Payment successful');
    await allowReturn();
    await waitForUrl(page, 'the shop', (url) => url.origin === platform.demo.shopUrl);
    await seesOrderPaid();
  });

  it('the page shows a decline and accepts a second payment', async () => {
    await checkOut();
    await fillCard(page, '4000 0000 0000 0002');
    await payButton(page).click();
    await waitForHeading(page, 'Pay by card', 30_000);
    await page.getByText('Your bank declined the payment').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
    await page.getByText('You have 4 of 5 attempts left.').waitFor({ state: 'visible' });
    await screenshot(page, 'declined-1-payment-page');

    await page.getByRole('link', { name: 'Back to store' }).click();
    await page.locator('.failed-payments').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
    expect(await orderState()).toBe('awaiting-payment');
    await screenshot(page, 'declined-2-order');
    await goToPayment();

    await waitForHeading(page, 'Pay by card');
    const allowReturn = await holdReturn(page, platform.demo.shopUrl);
    await fillCard(page, '4242 4242 4242 4242');
    await payButton(page).click();
    await waitForHeading(page, 'Payment successful');
    await screenshot(page, 'declined-3-second-payment-receipt');
    await page.getByRole('link', { name: 'Return to Karoo Roastery' }).click({ noWaitAfter: true });
    await allowReturn();
    await seesOrderPaid();
    await screenshot(page, 'declined-4-order-paid');
  });

  it('the page shows that a session has expired, and links back to the store', async () => {
    const sessionId = new URL(await checkOut()).searchParams.get('sessionId');
    // Chromium refuses to reload a tab that is still between two sites.
    await waitForHeading(page, 'Pay by card');
    const past = new Date(Date.now() - 1_000);
    await platform.sql('UPDATE hosted_gateway.sessions SET expires_at = $2 WHERE session_id = $1', [sessionId, past]);

    await page.reload();
    await waitForHeading(page, 'This payment page has expired');
    await screenshot(page, 'expired-1-payment-page');
    await page.getByRole('link', { name: 'Back to store' }).click();
    await waitForUrl(
      page,
      'the order',
      (url) => url.origin === platform.demo.shopUrl && url.pathname.startsWith('/orders/'),
    );
    expect(await orderState()).toBe('awaiting-payment');
    await screenshot(page, 'expired-2-order');
  });
});

/** One payer clicks Pay in two tabs at the same moment. There is one charge, and both tabs show it. */
import { PATIENCE } from '@svc/testing';
import type { Browser, BrowserContext } from 'playwright-core';
import {
  checkOutCoffee,
  fillCard,
  payButton,
  recordPageErrors,
  screenshot,
  startBrowser,
  waitForHeading,
  waitForUrl,
} from './browser/browser.js';
import { gatewayClient } from './callers/merchant.js';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

/** The acquirer answers so late for this card that the payment of the second tab arrives before the answer. */
const ANSWERS_LATE = '4000 0000 0000 6009';
/** Seven mugs and a coffee; no other order on the platform has this amount. Cents. */
const AMOUNT = 7 * 9_900 + 12_345;

describe('a payment in two tabs', () => {
  let platform: Platform;
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    platform = await sharedPlatform('embedded');
    browser = await startBrowser();
    context = await browser.newContext({ locale: 'en-ZA' });
  });
  afterAll(async () => {
    await browser?.close();
  });

  it('is charged once when both tabs pay at the same moment, and both tabs show the same result', async () => {
    const pageErrors = recordPageErrors(context);
    const first = await context.newPage();
    await first.goto(platform.demo.shopUrl);
    await first.getByLabel('Quantity of Enamel Mug').fill('7');
    await checkOutCoffee(first);
    await waitForHeading(first, 'Pay by card');
    const second = await context.newPage();
    await second.goto(first.url());
    const sessionId = new URL(first.url()).searchParams.get('sessionId')!;
    const tabs = [first, second];
    await Promise.all(tabs.map((tab) => fillCard(tab, ANSWERS_LATE)));

    const payRequests: string[] = [];
    context.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith(`/pay/${sessionId}/payments`))
        payRequests.push(request.postData() ?? '');
    });
    // Each tab submits by script: a click through the test driver would wait for the other tab's page first.
    await Promise.all(tabs.map((tab) => tab.evaluate("document.getElementById('pay-form').requestSubmit()")));

    const shop = platform.demo.shopUrl;
    await Promise.all(
      tabs.map((tab) => waitForUrl(tab, 'the shop, in both tabs', (url) => url.origin === shop, 60_000)),
    );
    await Promise.all(
      tabs.map((tab) =>
        tab.locator('#order-state[data-state="paid"]').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE }),
      ),
    );
    await screenshot(second, 'two-tabs-second');
    const references = await Promise.all(tabs.map((tab) => tab.locator('#payment-reference').innerText()));
    expect(references[0]).toBe(references[1]);

    // The tabs really sent two payments: two references, not one repeated request.
    expect(new Set(payRequests.map((body) => (JSON.parse(body) as { reference: string }).reference)).size).toBe(2);
    const payments = await gatewayClient(platform).listPayments(sessionId);
    expect(payments.map(({ paymentReference, paymentStatus }) => [paymentReference, paymentStatus])).toEqual([
      [references[0], 'Success'],
    ]);
    const charged = platform.charges().filter(({ amount }) => amount === AMOUNT);
    expect(charged).toEqual([expect.objectContaining({ outcome: 'approved', paymentReference: references[0] })]);
    expect(pageErrors.filter((pageError) => !pageError.includes('409'))).toEqual([]);
    expect(await payButton(second).count()).toBe(0);
  });
});

/**
 * A payer at a desktop pays with a phone. The phone reads the code from a picture of the screen, in both themes. In
 * another test, a partner's customer pays with the code. Every open page shows the payment without a reload. Each
 * service has its own process, so events must reach all of them over RabbitMQ.
 */
import { randomUUID } from 'node:crypto';
import { PartnerClient } from '@svc/sdk';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  axeFindings,
  checkOutCoffee,
  closeContext,
  fillCard,
  holdReturn,
  payButton,
  recordPageErrors,
  screenshot,
  scrollsSideways,
  startBrowser,
  waitForHeading,
  waitForUrl,
} from './browser/browser.js';
import { readQr } from './browser/qr-scanner.js';
import { gatewayClient } from './callers/merchant.js';
import { decodeCode, logIn } from './callers/partner.js';
import { APPROVED_CARD } from './callers/payer.js';
import type { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const PAID = 'Payment successful';
/** The other pages must show the payment within this time. */
const MAX_UPDATE_MS = 2_000 * PATIENCE;
/** A payment is repeated if an update took too long, because other load on the machine also delays the pages. */
const MAX_PAYMENTS = 3;
describe('paying by QR', () => {
  let platform: Platform;
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const pageErrors: string[][] = [];

  beforeAll(async () => {
    platform = await sharedPlatform('distributed');
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(closeContext));
    expect(pageErrors.splice(0).flat()).toEqual([]);
  });

  async function newPage(options: Parameters<Browser['newContext']>[0]): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-ZA', ...options });
    contexts.push(context);
    pageErrors.push(recordPageErrors(context));
    return context.newPage();
  }
  /** Checks out up to the payment page, and takes a picture of the screen. */
  async function showCode(
    colorScheme: 'light' | 'dark',
  ): Promise<{ desktop: Page; address: string; sessionId: string; allowReturn: () => Promise<void> }> {
    const desktop = await newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
    const allowReturn = await holdReturn(desktop, platform.demo.shopUrl);
    await desktop.goto(platform.demo.shopUrl);
    await checkOutCoffee(desktop);
    await waitForHeading(desktop, 'Pay with another device');
    await screenshot(desktop, `qr-desktop-${colorScheme}`);
    const address = await readQr(browser, await desktop.screenshot());
    expect(address).toMatch(new RegExp(`^${platform.demo.gatewayUrl}/c/\\d{20}$`));
    const sessionId = new URL(desktop.url()).searchParams.get('sessionId')!;
    return { desktop, address: address!, sessionId, allowReturn };
  }
  async function scanWithPhone(address: string, colorScheme: 'light' | 'dark'): Promise<Page> {
    const phone = await newPage({
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
      colorScheme,
    });
    await phone.goto(address);
    await waitForHeading(phone, 'Pay by card');
    return phone;
  }
  const timeOf = async (event: Promise<unknown>): Promise<number> => {
    await event;
    return Date.now();
  };
  /** Checks that the acquirer has one charge for the session; returns the states of the merchant's payments. */
  async function paymentsOf(sessionId: string): Promise<readonly string[]> {
    const payments = await gatewayClient(platform).listPayments(sessionId);
    const references = payments.map(({ paymentReference }) => paymentReference);
    const charged = platform.charges().filter(({ paymentReference }) => references.includes(paymentReference));
    expect(charged.map(({ outcome, amount }) => [outcome, amount])).toEqual([['approved', 12_345]]);
    return payments.map(({ paymentStatus }) => paymentStatus);
  }
  const seesOrderPaid = async (desktop: Page): Promise<void> => {
    await waitForUrl(desktop, 'the shop', (url) => url.origin === platform.demo.shopUrl);
    await desktop.locator('#order-state[data-state="paid"]').waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
  };

  /** @param pay returns the milliseconds until the last page showed the payment */
  async function expectUpdateInTime(pay: () => Promise<number>): Promise<void> {
    let took = Infinity;
    for (let payment = 0; payment < MAX_PAYMENTS && took >= MAX_UPDATE_MS; payment++) took = await pay();
    expect(took).toBeLessThan(MAX_UPDATE_MS);
  }

  it.each(['light', 'dark'] as const)(
    'a phone reads the code from the screen and pays; the desktop shows the payment without a reload and returns to the shop (%s theme)',
    (colorScheme) => expectUpdateInTime(() => payByPhone(colorScheme)),
  );

  it('a partner’s customer pays the scanned code; phone and desktop show the payment without a reload, and the shop receives one webhook', () =>
    expectUpdateInTime(payByPartner));

  async function payByPhone(colorScheme: 'light' | 'dark'): Promise<number> {
    const { desktop, address, sessionId, allowReturn } = await showCode(colorScheme);
    const phone = await scanWithPhone(address, colorScheme);
    expect([await axeFindings(phone), await scrollsSideways(phone)]).toEqual([[], false]);
    expect(await phone.locator('main').innerText()).toContain('R 123.45');
    // The page has no link to the shop, because this browser does not know the shop. The page also has no code of its
    // own.
    expect([await phone.getByRole('link').count(), await phone.locator('#code-view').count()]).toEqual([0, 0]);
    await screenshot(phone, `qr-phone-${colorScheme}-1-form`);

    const updated = timeOf(waitForHeading(desktop, PAID));
    await fillCard(phone, '4242 4242 4242 4242');
    await payButton(phone).tap();
    const paid = await timeOf(waitForHeading(phone, PAID));
    const took = (await updated) - paid;
    console.log(`the desktop was updated ${took} ms after the phone (${colorScheme})`);
    await screenshot(desktop, `qr-desktop-${colorScheme}-2-paid`);

    await allowReturn();
    await seesOrderPaid(desktop);
    expect(await phone.locator('main').innerText()).toContain('The other device shows the payment too.');
    expect([phone.url(), await phone.getByRole('link').count()]).toEqual([address, 0]);
    await screenshot(phone, `qr-phone-${colorScheme}-2-paid`);
    expect(await paymentsOf(sessionId)).toEqual(['Success']);
    return took;
  }

  async function payByPartner(): Promise<number> {
    const { desktop, address, sessionId, allowReturn } = await showCode('light');
    const phone = await scanWithPhone(address, 'light');
    const headers = await logIn(platform);
    const { status, body } = await decodeCode(platform, address, headers);
    expect([status, body]).toMatchObject([
      200,
      {
        merchant: { merchantName: 'Karoo Roastery', currencySymbol: 'R' },
        invoice: { amount: 12_345, invoiceReference: sessionId, state: 'open' },
      },
    ]);

    const { apiUrl, partner } = platform.demo;
    const { service } = new PartnerClient({ apiUrl, ...partner });
    const updated = [desktop, phone].map((page) => timeOf(waitForHeading(page, PAID)));
    const payment = await service.pay({
      reference: randomUUID(),
      code: address,
      amount: 12_345,
      customer: { id: randomUUID() },
      card: APPROVED_CARD,
    });
    const answered = Date.now();
    expect(payment.status).toBe('success');
    const took = (await Promise.all(updated)).map((at) => at - answered);
    console.log(`desktop and phone were updated ${took.join(' and ')} ms after the partner was answered`);
    await screenshot(phone, 'qr-phone-3-paid-by-partner');

    await allowReturn();
    await seesOrderPaid(desktop);
    expect(await desktop.locator('#payment-reference').innerText()).toBe(payment.paymentReference);
    expect(await paymentsOf(sessionId)).toEqual(['Success']);
    await waitUntil('the code to be decoded as paid', 5_000, async () => {
      const decoded = await decodeCode(platform, address, headers);
      return decoded.body?.invoice['state'] === 'closed';
    });
    const again = service.pay({
      reference: randomUUID(),
      code: address,
      amount: 12_345,
      customer: { id: randomUUID() },
      card: APPROVED_CARD,
    });
    await expect(again).rejects.toMatchObject({ httpStatus: 409 });
    const notifications = await platform.sql(
      `SELECT state FROM webhook_dispatcher.notifications WHERE session_id = $1`,
      [sessionId],
    );
    expect(notifications).toEqual([{ state: 'delivered' }]);
    return Math.max(...took);
  }
});

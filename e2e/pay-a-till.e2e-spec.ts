/**
 * A payer pays a till with any phone: the phone's camera opens the code of the basket, and till, customer display and
 * phone all show the payment. In other tests, a partner's customer or a second phone pays the same invoice at the same
 * moment. Each service has its own process, over RabbitMQ.
 */
import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  axeFindings,
  closeContext,
  fillCard,
  payButton,
  recordPageErrors,
  screenshot,
  scrollsSideways,
  startBrowser,
  waitForHeading,
} from './browser/browser.js';
import { onboardMerchant } from './callers/merchant.js';
import { callApi, logIn, type PartnerHeaders } from './callers/partner.js';
import { callTillApi as merchantCall, createInvoice } from './callers/till.js';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const PAID = 'Payment successful';
const PAID_BY_OTHERS = 'This order is already paid';
const AMOUNT = 8_950;
/** The race is repeated until phone and partner have each won once, but at most this often. */
const MAX_RACES = 12;

let platform: Platform;
let browser: Browser;
let partner: PartnerHeaders;
const contexts: BrowserContext[] = [];
const pageErrors: string[][] = [];

beforeAll(async () => {
  platform = await sharedPlatform('distributed');
  browser = await startBrowser();
  partner = await logIn(platform);
});
afterAll(async () => {
  await browser?.close();
});
afterEach(async () => {
  await Promise.all(contexts.splice(0).map(closeContext));
  // When two payers pay at the same moment, one of them gets a 409, as expected.
  const faults = pageErrors.splice(0).flat();
  expect(faults.filter((pageError) => !/^409: |status of 409/.test(pageError))).toEqual([]);
});

async function newPage(options: Parameters<Browser['newContext']>[0]): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-ZA', ...options });
  contexts.push(context);
  pageErrors.push(recordPageErrors(context));
  return context.newPage();
}

/** Opens the address that a phone's camera reads, as soon as the gateway knows the invoice. */
async function scan(code: string): Promise<Page> {
  await waitUntil('the gateway to know the code', 5_000, async () => (await fetch(code)).ok);
  const phone = await newPage(PHONE);
  await phone.goto(code);
  await waitForHeading(phone, 'Pay by card');
  return phone;
}

async function tapPay(phone: Page): Promise<void> {
  await fillCard(phone, '4242 4242 4242 4242');
  await payButton(phone).tap();
}

interface PaymentOfInvoice {
  readonly paymentReference: string;
  readonly state: string;
}

/** The payments of an invoice in payment-processor, the oldest first. */
async function paymentsOf(invoiceReference: string): Promise<readonly PaymentOfInvoice[]> {
  return platform.sql<PaymentOfInvoice>(
    `SELECT payment_reference AS "paymentReference", state FROM payment_processor.payments WHERE payable_id = $1 ORDER BY accepted_at`,
    [invoiceReference],
  );
}
/** The amounts that the acquirer has charged for these payments. */
function chargesOf(payments: readonly PaymentOfInvoice[]): readonly number[] {
  const references = payments.map(({ paymentReference }) => paymentReference);
  return platform
    .charges()
    .filter(({ paymentReference, outcome }) => outcome === 'approved' && references.includes(paymentReference))
    .map(({ amount }) => amount);
}

describe('a till', () => {
  /** This test has a till of its own, so that no other test appears on the till's display. */
  const till = `TILL-${randomInt(1e9)}`;
  const order = randomInt(1e9, 1e12);

  async function transformer(method: 'GET' | 'POST', path: string, body?: object): Promise<Response> {
    const { transformerUrl, transformerApiKey } = platform.demo;
    return fetch(`${transformerUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': transformerApiKey, 'x-till': till },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000 * PATIENCE),
    });
  }

  it('is paid by a phone that opened the code of its basket: till, display and phone show the payment', async () => {
    const { siteId } = platform.site(0, 1);
    const { transformerUrl, transformerApiKey } = platform.demo;
    const display = await newPage({ viewport: { width: 1280, height: 800 } });
    await display.goto(`${transformerUrl}/display/${siteId}?till=${till}#key=${transformerApiKey}`);

    const line = { id: 1, itemName: 'Rooibos', itemProductCode: 'RB', itemPrice: 4_475, itemQuantity: 2 };
    const base = `/v1/sites/${siteId}/invoice`;
    await transformer('POST', `${base}/line`, { ...line, totalPrice: AMOUNT });
    const total = await transformer('POST', `${base}/total`, { amount: AMOUNT, reference: String(order) });
    const { Code: code, InvoiceReference: invoice } = (await total.json()) as Record<string, string>;
    await waitForHeading(display, 'Scan to pay');

    const phone = await scan(code!);
    const text = await phone.locator('main').innerText();
    for (const shown of ['Karoo Roastery Market Stall', 'Rooibos', '2 × R 44.75', 'R 89.50'])
      expect(text).toContain(shown);
    expect([await axeFindings(phone), await scrollsSideways(phone)]).toEqual([[], false]);
    expect(await phone.getByRole('link').count()).toBe(0);
    await screenshot(phone, 'till-phone-1-form');
    expect((await transformer('GET', `/GetPayment?MerchantOrderId=${order}`)).status).toBe(404);

    const displayUpdated = waitForHeading(display, 'Paid');
    await tapPay(phone);
    await waitForHeading(phone, PAID);
    await screenshot(phone, 'till-phone-2-paid');
    await displayUpdated;
    const answer = await waitUntil('the till to get the payment', 5_000, async () => {
      const answer = await transformer('GET', `/GetPayment?MerchantOrderId=${order}`);
      return answer.status === 200 ? ((await answer.json()) as Record<string, unknown>) : undefined;
    });
    const payments = await paymentsOf(invoice!);
    expect([payments.map(({ state }) => state), chargesOf(payments)]).toEqual([['success'], [AMOUNT]]);
    expect(answer).toMatchObject({ SvcId: payments[0]!.paymentReference, PaidAmount: AMOUNT, StatusId: '2' });
    expect(await phone.locator('main').innerText()).toContain(payments[0]!.paymentReference);

    // A second phone sees that the invoice is paid, but no details. The first phone keeps its receipt.
    const second = await newPage(PHONE);
    await second.goto(code!);
    await waitForHeading(second, PAID_BY_OTHERS);
    expect(await second.locator('main').innerText()).not.toContain(payments[0]!.paymentReference);
    await phone.reload();
    await waitForHeading(phone, PAID);
    await screenshot(second, 'till-phone-3-second');
  });

  it('has a printed code, whose page waits for a basket, shows only its amount, and keeps the receipt', async () => {
    const siteReference = `TILL-${randomInt(1e9)}`;
    const created = await merchantCall(platform, 'PUT', `/tills/${siteReference}/code`, 'text/plain');
    const code = await created.text();
    await waitUntil('the gateway to know the till', 5_000, async () => (await fetch(code)).ok);
    const phone = await newPage(PHONE);
    await phone.goto(code);
    await waitForHeading(phone, 'Nothing to pay at this till yet');
    await screenshot(phone, 'till-phone-4-waiting');
    const invoice = await createInvoice(platform, { siteReference });
    await waitForHeading(phone, 'Pay by card');
    const address = `${code}/invoices/${invoice.reference}`;
    expect(phone.url()).toBe(address);
    const main = phone.locator('main');
    expect(await main.innerText()).toContain('R 89.50');
    for (const hidden of ['Rooibos cappuccino', siteReference]) expect(await main.innerText()).not.toContain(hidden);
    const own = await scan(invoice.code);
    expect(await own.locator('main').innerText()).toContain('Rooibos cappuccino');
    await tapPay(phone);
    await waitForHeading(phone, PAID);
    // The cookie of the page identifies the payer after a reload.
    await phone.reload();
    await waitForHeading(phone, PAID);
    expect(phone.url()).toBe(address);
    await waitForHeading(own, PAID_BY_OTHERS);
  });

  it('is also paid by scanners that change the address of its code', async () => {
    const { code } = await createInvoice(platform);
    await waitUntil('the gateway to know the code', 5_000, async () => (await fetch(code)).ok);
    const { origin, pathname } = new URL(code);
    for (const changed of [
      `${code}/`,
      `${origin}${pathname.toUpperCase()}`,
      `${origin}/C/%20${pathname.slice(3)}%20/?x=1`,
    ]) {
      const response = await fetch(changed);
      expect([changed, response.status, response.url]).toEqual([changed, 200, code]);
    }
  });
});

describe('the payer', () => {
  it('chooses amount and tip where the merchant allows it: the page checks them, shows the sum on the button, and the sum is charged', async () => {
    const site = await onboardMerchant(platform, 'Tips and Tea');
    const { adminUrl, adminKey } = platform.demo;
    const changed = await fetch(`${adminUrl}/admin/v1/merchants/${site.merchant.merchantId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-admin-key': adminKey },
      body: JSON.stringify({ features: { tip: { enabled: true }, amount: { editable: true } } }),
    });
    expect(changed.status).toBe(200);
    const { code, reference } = await createInvoice(platform, {}, site);
    await waitUntil('the page with the new features', 10_000, async () =>
      (await (await fetch(code)).text()).includes('id="pay-tip"'),
    );
    const phone = await scan(code);
    expect([await axeFindings(phone), await scrollsSideways(phone)]).toEqual([[], false]);
    const [amount, tip] = [phone.getByLabel('Amount to pay'), phone.getByLabel('Tip')];
    expect([await amount.inputValue(), await tip.inputValue()]).toEqual(['89.50', '']);
    await amount.fill('0.99');
    await tip.fill('ten');
    await tapPay(phone);
    await phone.getByText('You can pay R 1.00 or more.').waitFor({ state: 'visible' });
    expect(await phone.evaluate(() => document.activeElement?.id)).toBe('pay-amount');
    await amount.fill('895.01');
    await payButton(phone).tap();
    await phone.getByText('You can pay at most R 895.00 here.').waitFor({ state: 'visible' });
    await amount.fill('80');
    await tip.fill('89.51');
    await payButton(phone).tap();
    await phone.getByText('You can pay at most R 89.50 here.').waitFor({ state: 'visible' });
    await tip.fill('ten');
    expect(await phone.getByText('R 1.00 or more').count()).toBe(0);
    await payButton(phone).tap();
    await phone.getByText('Enter an amount such as 12.50.').waitFor({ state: 'visible' });
    await tip.fill('10,50');
    expect(await phone.getByText('Enter an amount such as 12.50.').count()).toBe(0);
    expect(await phone.locator('#pay-sum').innerText()).toBe('R 80.00 + R 10.50 = R 90.50');
    expect(await payButton(phone).innerText()).toContain('Pay R 90.50');
    await screenshot(phone, 'till-phone-6-tip');
    await payButton(phone).tap();
    await waitForHeading(phone, PAID);
    expect(await phone.locator('main').innerText()).toContain('R 90.50');
    const paid = await platform.sql<object>(
      `SELECT amount::int, tip_amount::int AS tip, processed_amount::int AS processed FROM payment_processor.payments WHERE payable_id = $1`,
      [reference],
    );
    expect(paid).toEqual([{ amount: 8_000, tip: 1_050, processed: 9_050 }]);
    expect(chargesOf(await paymentsOf(reference))).toEqual([9_050]);
  });

  it('keeps the input when another payer’s payment has failed, and pays with it', async () => {
    const { code, reference } = await createInvoice(platform);
    const [phone, other] = [await scan(code), await scan(code)];
    const number = phone.getByLabel('Card number');
    await number.fill('4242 4242 4242 4242');
    await fillCard(other, '4000 0000 0000 9995');
    await payButton(other).tap();
    await other.getByText('There is not enough money on this card').waitFor({ state: 'visible' });
    await phone.getByText('A payment on another device did not succeed').waitFor({ state: 'visible' });
    expect([await number.inputValue(), await phone.getByText('attempts left').count()]).toEqual([
      '4242 4242 4242 4242',
      0,
    ]);
    await tapPay(phone);
    await waitForHeading(phone, PAID);
    expect((await paymentsOf(reference)).map(({ state }) => state)).toEqual(['failed', 'success']);
  });

  it('returns from the bank to the same invoice, and another phone shows neither the decline nor the receipt', async () => {
    const { code, reference } = await createInvoice(platform);
    const [phone, other] = [await scan(code), await scan(code)];
    await fillCard(phone, '4000 0000 0000 9995');
    await payButton(phone).tap();
    await phone.getByText('There is not enough money on this card').waitFor({ state: 'visible' });
    expect(await other.getByText('There is not enough money').count()).toBe(0);
    await fillCard(phone, '4000 0000 0000 3220');
    await payButton(phone).tap();
    await phone.getByRole('button', { name: 'Confirm the payment' }).click();
    await waitForHeading(phone, PAID);
    expect(new URL(phone.url()).pathname).toBe(new URL(code).pathname);
    await waitForHeading(other, PAID_BY_OTHERS);
    expect((await paymentsOf(reference)).map(({ state }) => state)).toEqual(['failed', 'success']);
  });
});

describe('an invoice with two payers', () => {
  /** Pays over the main API; returns true if this payment succeeded. */
  async function payAsPartner(invoiceReference: string): Promise<boolean> {
    const card = {
      cardNumber: '4242424242424242',
      cvv: '123',
      holderName: 'A Khan',
      expiryMonth: 12,
      expiryYear: 2035,
    };
    const { status } = await callApi(platform, 'POST', '/v1/payments', partner, {
      ...{ reference: randomUUID(), invoiceReference, amount: AMOUNT },
      ...{ customer: { id: 'customer-1' }, paymentMethod: { card } },
    });
    expect([201, 409]).toContain(status);
    return status === 201;
  }
  const isPaidPage = async (phone: Page): Promise<boolean> => {
    const heading = phone.getByRole('heading', { name: new RegExp(`^(${PAID}|${PAID_BY_OTHERS})$`) });
    await heading.waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
    return (await heading.innerText()) === PAID;
  };

  it('is charged once if a phone and a partner pay at the same moment, and the phone shows the right result', async () => {
    const winners = new Set<string>();
    for (let race = 0; race < MAX_RACES && winners.size < 2; race++) {
      const { code, reference } = await createInvoice(platform);
      const phone = await scan(code);
      await fillCard(phone, '4242 4242 4242 4242');
      // The partner's request is faster, so in every second race it starts after the phone's.
      const begin = race % 2 === 0 ? Promise.resolve() : phone.waitForRequest((request) => request.method() === 'POST');
      const partners = begin.then(() => payAsPartner(reference));
      // If the page shows the partner's payment during the tap, the browser never confirms the tap.
      const tapped = payButton(phone)
        .tap({ timeout: 10_000 * PATIENCE })
        .catch(() => undefined);
      const [byPartner] = await Promise.all([partners, tapped]);
      const byPhone = await isPaidPage(phone);
      expect([byPhone, byPartner].filter(Boolean)).toHaveLength(1);
      const payments = await paymentsOf(reference);
      expect([payments.map(({ state }) => state), chargesOf(payments)]).toEqual([['success'], [AMOUNT]]);
      if (!byPhone) await screenshot(phone, 'till-phone-5-paid-by-partner');
      winners.add(byPhone ? 'phone' : 'partner');
      await closeContext(phone.context());
    }
    expect([...winners].sort()).toEqual(['partner', 'phone']);
  });

  it('is charged once if two phones pay at the same moment, and one phone shows that it is already paid', async () => {
    const { code, reference } = await createInvoice(platform);
    const phones = [await scan(code), await scan(code)];
    for (const phone of phones) await fillCard(phone, '4242 4242 4242 4242');
    await Promise.all(phones.map((phone) => payButton(phone).tap()));
    const paid = await Promise.all(phones.map(isPaidPage));
    expect(paid.toSorted()).toEqual([false, true]);
    const payments = await paymentsOf(reference);
    expect([payments.map(({ state }) => state), chargesOf(payments)]).toEqual([['success'], [AMOUNT]]);
  });

  it('is shown as paid on a phone after a partner has paid, without a reload', async () => {
    const { code, reference } = await createInvoice(platform);
    const phone = await scan(code);
    expect(await payAsPartner(reference)).toBe(true);
    await waitForHeading(phone, PAID_BY_OTHERS);
  });
});

it('the commands of the guide work as written, also when repeated', async () => {
  const [block] = documentedBlocks('till-phone');
  for (let times = 0; times < 2; times++) {
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', block!], { cwd: ROOT, env: platform.env() });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const closed = once(shell, 'close');
    const code = await waitUntil('the address of the code', 30_000, () =>
      Promise.resolve(/\S+\/c\/\d{20}/.exec(output)?.[0]),
    );
    const phone = await scan(code);
    await tapPay(phone);
    await waitForHeading(phone, PAID);
    const [status] = (await closed) as [number | null];
    expect([status, status === 0 ? '' : output]).toEqual([0, '']);
    const answer = JSON.parse(output.trim().split('\n').at(-1)!) as object;
    expect(answer).toMatchObject({ PaidAmount: AMOUNT, StatusId: '2' });
  }
});

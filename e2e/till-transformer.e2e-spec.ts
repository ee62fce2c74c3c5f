/**
 * The till transformer with the real platform: the guide's commands, and a customer display for both APIs of tills
 * (single lines, and whole baskets).
 */
import { randomInt, randomUUID } from 'node:crypto';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Browser } from 'playwright-core';
import {
  axeFindings,
  closeContext,
  recordPageErrors,
  screenshot,
  scrollsSideways,
  startBrowser,
} from './browser/browser.js';
import { callApi, logIn, type PartnerHeaders } from './callers/partner.js';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
let partner: PartnerHeaders;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  partner = await logIn(platform);
});

it('the curl commands of the guide work as written, also when repeated', async () => {
  const [block] = documentedBlocks('till');
  for (let times = 0; times < 2; times++) {
    const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', block!], platform.env());
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
    expect(output).toContain('<svg ');
    const answers = output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const done = { Result: 'OK', Message: '' };
    expect(answers).toEqual([
      done,
      {
        ...done,
        InvoiceReference: expect.stringMatching(/^[0-9a-f-]{36}$/),
        Code: expect.stringContaining('/c/'),
        QrSvgUrl: expect.stringContaining(platform.demo.transformerUrl),
      },
      expect.objectContaining({ PaidAmount: 8_950, PaymentStatus: 'Success', ReceiptStatus: 'Paid' }),
      done,
      done,
      done,
      expect.objectContaining({ PaidAmount: 8_950, MerchantAmount: 8_950, StatusId: '2' }),
      done,
    ]);
  }
});

describe('a customer display', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  /** This test has a till of its own, so that no other test appears on the till's display. */
  const till = `TILL-${randomInt(1e9)}`;

  async function call(path: string, body: object): Promise<Record<string, string>> {
    const { transformerUrl, transformerApiKey } = platform.demo;
    const answer = await fetch(`${transformerUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': transformerApiKey, 'x-till': till },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000 * PATIENCE),
    });
    return (await answer.json()) as Record<string, string>;
  }

  async function pay(code: string, amount: number): Promise<void> {
    const card = {
      cardNumber: '4242424242424242',
      cvv: '123',
      holderName: 'Thandi Nkosi',
      expiryMonth: 12,
      expiryYear: 2035,
    };
    const { status } = await callApi(platform, 'POST', '/v1/payments', partner, {
      reference: randomUUID(),
      code: Buffer.from(code).toString('base64url'),
      amount,
      customer: { id: 'customer-1' },
      paymentMethod: { card },
    });
    expect(status).toBe(201);
  }

  it('has a till page with large buttons and without an empty panel, and a display that shows customers no technical problem', async () => {
    const { siteId } = platform.site(0, 1);
    const { transformerUrl, transformerApiKey } = platform.demo;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const [tillPage, display] = [await context.newPage(), await context.newPage()];
    await tillPage.goto(`${transformerUrl}/till/${siteId}?till=${till}-PAGE#key=${transformerApiKey}`);
    const boxes = await Promise.all(
      (await tillPage.getByRole('button').all()).map(async (button) => (await button.boundingBox())!),
    );
    expect(boxes).toHaveLength(3);
    expect(Math.min(...boxes.map(({ height }) => height))).toBeGreaterThanOrEqual(44);
    // There is a distance between two buttons, so that a finger does not touch both.
    const distances = boxes.slice(1).map(({ y }, index) => y - boxes[index]!.y - boxes[index]!.height);
    expect(Math.min(...distances)).toBeGreaterThanOrEqual(12);
    expect([await tillPage.getByLabel('Quantity').inputValue(), await tillPage.locator('#status').isVisible()]).toEqual(
      ['1', false],
    );
    expect([await axeFindings(tillPage), await scrollsSideways(tillPage)]).toEqual([[], false]);
    await screenshot(tillPage, 'till-page');
    await display.goto(`${transformerUrl}/display/${siteId}?till=${till}#key=wrong`);
    await display.getByText('Please pay at the till.').waitFor();
    expect(await display.locator('body').innerText()).not.toMatch(/key/i);
    await closeContext(context);
  });

  it('shows baskets that are sent as lines and as a whole, and their payments within a second', async () => {
    const { siteId } = platform.site(0, 1);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const pageErrors = recordPageErrors(context);
    const page = await context.newPage();
    const { transformerUrl, transformerApiKey } = platform.demo;
    await page.goto(`${transformerUrl}/display/${siteId}?till=${till}#key=${transformerApiKey}`);
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();

    /** Pays the code on the display; returns the milliseconds until the display shows the payment. */
    const payShown = async (code: string, amount: number): Promise<number> => {
      await page.getByRole('heading', { name: 'Scan to pay' }).waitFor();
      const image = page.getByRole('img', { name: 'QR code to pay this basket' });
      await waitUntil('the image', 5_000, () =>
        image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth > 0),
      );
      await pay(code, amount);
      const paidAt = performance.now();
      await page.getByRole('heading', { name: 'Paid' }).waitFor();
      return performance.now() - paidAt;
    };

    const line = {
      id: 1,
      itemName: 'Rooibos',
      itemProductCode: 'RB',
      itemPrice: 4_475,
      itemQuantity: 2,
      totalPrice: 8_950,
    };
    const base = `/v1/sites/${siteId}/invoice`;
    expect(await call(`${base}/line`, line)).toMatchObject({ Result: 'OK' });
    await page.getByRole('cell', { name: 'Rooibos' }).waitFor();
    const total = await call(`${base}/total`, { amount: 8_950, reference: randomUUID() });
    expect(await page.locator('#store').innerText()).toBe('Karoo Roastery');
    await screenshot(page, 'till-display');
    const first = await payShown(total['Code']!, 8_950);
    expect(await call(`${base}/reset`, {})).toEqual({ Result: 'OK', Message: '' });
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();

    const order = randomUUID();
    const Products = [{ ProductCode: 'AP', ProductName: 'Apples', ActualUnitPrice: 129, Quantity: 2.5 }];
    expect(await call('/Basket', { MerchantOrderId: order, TotalToPay: 323, Products })).toEqual({
      Result: 'OK',
      Message: '',
    });
    await page.getByRole('heading', { name: 'Scan to pay' }).waitFor();
    // The answer of `Basket` has no code. The code is on the display, and in the till's invoice at the platform.
    const image = await fetch(new URL((await page.locator('#code').getAttribute('src'))!, transformerUrl));
    expect(await image.text()).toContain('<svg ');
    const [{ code } = { code: '' }] = await platform.sql<{ code: string }>(
      'SELECT code FROM code_decoder.invoices WHERE external_reference = $1',
      [order],
    );
    const second = await payShown(code, 323);
    expect(await call('/BasketClosed', { MerchantOrderId: order, OrderStatus: 'Complete' })).toMatchObject({
      Result: 'OK',
    });
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    expect(pageErrors).toEqual([]);
    expect(Math.max(first, second)).toBeLessThan(1_000 * PATIENCE);
    console.log(`display: paid after ${Math.round(first)} and ${Math.round(second)} ms`);
    await closeContext(context);
  });
});

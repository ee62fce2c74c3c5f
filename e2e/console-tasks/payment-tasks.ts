/** Tasks with payments: finding them, giving money back, receipts, requests, settlements and disputes. */
import { randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { reloadUntil, type Task } from './task.js';
import { CUSTOMER_NAME, type TaskMerchant } from './task-merchant.js';

const paymentPath = ({ paid }: TaskMerchant): string => `/payments/${paid.paymentReference}`;

async function openRefundForm(page: Page, address: string, left: string): Promise<void> {
  await page.goto(address);
  await page.getByText(`${left} can still be given back.`).waitFor();
}

/** Sends the form as a double click would, and leaves the page unchanged. */
async function repeatForm(page: Page, form: { action: string; body: string }): Promise<string> {
  return page.evaluate(async ({ action, body }) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await fetch(action, { method: 'POST', headers, body })).url;
  }, form);
}

async function requestPayment(page: Page, description: string, siteId: number): Promise<void> {
  await page.getByLabel('Amount in Rand').fill('250');
  await page.getByLabel('Description, which the payer sees').fill(description);
  const sites = page.getByLabel('Site');
  if ((await sites.count()) > 0) await sites.selectOption(String(siteId));
  await page.getByRole('button', { name: 'Request payment' }).click();
  await page.getByText('The request was created.').waitFor();
}

/** The simulated bank has no disputes, so the dispute is written into the console's records. */
async function disputePayment({ platform, site, paid }: TaskMerchant): Promise<void> {
  await platform.sql(
    `INSERT INTO console.disputes (generation, dispute_reference, version, payment_reference, merchant_id, mode, site_id, stage,
                                   amount, currency, reason, respond_by, created_utc_date, changed_utc_date)
     SELECT generation, $1, 1, $2, $3, 'test', $4, 'debited', 25000, 'ZAR', 'Fraud', now() + interval '5 days', now(), now()
       FROM console.generations WHERE state = 'serving'
        AND NOT EXISTS (SELECT FROM console.disputes WHERE payment_reference = $2)`,
    [randomUUID(), paid.paymentReference, site.merchant.merchantId, site.siteId],
  );
}

export const PAYMENT_TASKS: readonly Task[] = [
  {
    name: 'sees the sales of today',
    roles: ['owner', 'finance', 'support', 'developer'],
    rights: ['payments.read'],
    path: () => '',
    expectDone: async ({ page, start }, merchant) => {
      const { order } = await merchant.pay(12_300);
      await page.goto(start);
      await page.getByRole('img', { name: 'Sales by hour' }).waitFor();
      await page.getByRole('link', { name: order }).waitFor();
    },
  },
  {
    name: 'looks up an order',
    roles: ['owner', 'finance', 'support', 'developer'],
    rights: ['payments.read'],
    path: () => '/payments',
    expectDone: async ({ page, start }, { paid }) => {
      await page.goto(`${start}/payments`);
      await page.getByLabel('Order, reference, amount').fill(paid.order.toLowerCase());
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: paid.order }).click();
      await page.getByText('The bank approved it').waitFor();
      await page.getByText('R 250.00').first().waitFor();
    },
  },
  {
    name: 'sees the customer of a payment',
    roles: ['owner', 'finance', 'support'],
    rights: ['customers.read'],
    path: ({ paidByCustomer }) => `/payments/${paidByCustomer.paymentReference}`,
    control: (page) => page.getByRole('button', { name: 'Show the customer' }),
    expectDone: async ({ page, start }, { paidByCustomer }) => {
      await page.goto(`${start}/payments/${paidByCustomer.paymentReference}`);
      await page.getByRole('button', { name: 'Show the customer' }).click();
      await page.getByRole('status').filter({ hasText: CUSTOMER_NAME }).waitFor();
    },
  },
  {
    name: 'explains a webhook, and sends it again',
    roles: ['owner', 'support', 'developer'],
    rights: ['deliveries.read', 'deliveries.resend'],
    path: paymentPath,
    control: (page) => page.getByRole('button', { name: 'Send again' }),
    expectDone: async ({ page, start }, merchant) => {
      const { order, paymentReference } = await merchant.payRefused(25_000);
      await page.goto(`${start}/payments/${paymentReference}`);
      await reloadUntil(page, page.getByText(/^Attempts: \d+$/));
      await page.getByText(/^Attempts: \d+$/).click();
      await page.getByText(/Attempt 1: 500/).waitFor();
      await merchant.expectAccessible(page, 'console-payment');
      merchant.server.accept(order);
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('The webhook is being sent again.').waitFor();
      await reloadUntil(page, page.getByText('Webhook delivered'));
      expect(merchant.server.count(order)).toBeGreaterThan(0);
    },
  },
  {
    name: 'gives back a whole payment',
    roles: ['owner', 'finance', 'support'],
    rights: ['refunds.create'],
    path: paymentPath,
    control: (page) => page.getByRole('button', { name: 'Give back' }),
    expectDone: async ({ page, start }, merchant) => {
      const { paymentReference } = await merchant.pay(20_000);
      await openRefundForm(page, `${start}/payments/${paymentReference}`, 'R 200.00');
      await page.getByRole('button', { name: 'Give back' }).click();
      await page.getByText('R 200.00 was given back.').waitFor();
      await page.getByText('Nothing is left to give back.').waitFor();
    },
  },
  {
    name: 'gives back a part, then the rest; a repeat of the form gives back nothing more',
    roles: ['owner', 'finance', 'support'],
    rights: ['refunds.create'],
    path: paymentPath,
    control: (page) => page.getByRole('button', { name: 'Give back' }),
    expectDone: async ({ page, start }, merchant) => {
      const { paymentReference } = await merchant.pay(25_000);
      await openRefundForm(page, `${start}/payments/${paymentReference}`, 'R 250.00');
      await page.getByLabel('Amount in Rand').fill('100.50');
      await page.getByLabel('Reason').fill('A flower was broken');
      const form = await page.locator('form', { hasText: 'Give back' }).evaluate((element: HTMLFormElement) => ({
        action: element.action,
        body: new URLSearchParams(new FormData(element) as unknown as Record<string, string>).toString(),
      }));
      await page.getByRole('button', { name: 'Give back' }).click();
      await page.getByText('R 100.50 was given back.').waitFor();
      expect(new URL(await repeatForm(page, form)).search).toBe('?refund=succeeded&amount=10050');
      await page.reload();
      await page.getByText('R 149.50 can still be given back.').waitFor();
      await page.getByRole('button', { name: 'Give back' }).click();
      await page.getByText('R 149.50 was given back.').waitFor();
      await page.getByText('Nothing is left to give back.').waitFor();
      await page.getByText('Given back', { exact: true }).first().waitFor();
    },
  },
  {
    name: 'downloads the payments as CSV',
    roles: ['owner', 'finance'],
    rights: ['exports.read'],
    path: () => '/payments',
    control: (page) => page.getByRole('link', { name: 'Download CSV' }),
    expectDone: async ({ page, start }, { paid, site }) => {
      await page.goto(`${start}/payments?q=${paid.order}`);
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download CSV' }).click();
      const lines = (await readFile(await (await downloading).path(), 'utf8')).trimEnd().split('\r\n');
      expect(lines).toEqual([
        expect.stringContaining('paymentReference'),
        expect.stringContaining(`${paid.paymentReference},${paid.order},${site.merchant.name} Online,`),
      ]);
    },
  },
  {
    name: 'sends a receipt to the payer',
    roles: ['owner', 'finance', 'support'],
    rights: ['receipts.send'],
    path: paymentPath,
    control: (page) => page.getByRole('button', { name: 'Send the receipt' }),
    expectDone: async ({ page, start }, merchant) => {
      const email = `thandi-${randomInt(1e9)}@example.com`;
      const { paymentReference } = await merchant.pay(25_000);
      await page.goto(`${start}/payments/${paymentReference}`);
      await page.getByLabel('E-mail of the payer').fill(email);
      await page.getByRole('button', { name: 'Send the receipt' }).click();
      await page.getByText('The receipt was sent.').waitFor();
      await merchant.expectAccessible(page, 'console-receipt');
      expect(await merchant.readMail(email)).toMatch(/Subject: Receipt from .*: R 250\.00/);
      const link = page.getByRole('link', { name: 'Open the receipt to print it' });
      const receipt = await (await fetch((await link.getAttribute('href'))!)).text();
      expect(receipt).toContain('class="receipt');
    },
  },
  {
    name: 'requests a payment, and cancels it',
    roles: ['owner', 'finance', 'support'],
    rights: ['payment-requests.create', 'sessions.read'],
    path: () => '/requests',
    control: (page) => page.getByRole('link', { name: 'Request a payment' }),
    expectDone: async ({ page, start }, { site }) => {
      const description = `Flowers ${randomInt(1e9)}`;
      await page.goto(`${start}/requests`);
      await page.getByRole('link', { name: 'Request a payment' }).click();
      await requestPayment(page, description, site.siteId);
      await page.goto(`${start}/requests`);
      await page.getByRole('row', { name: description }).locator('.state', { hasText: 'Open' }).waitFor();
      await page.getByRole('link', { name: description, exact: true }).click();
      await page.getByRole('button', { name: 'Cancel the request' }).click();
      await page.getByText('The request was cancelled.').waitFor();
    },
  },
  {
    name: 'sees a payment request and its QR code',
    roles: ['owner', 'finance', 'support', 'developer'],
    rights: ['sessions.read'],
    path: () => '/requests',
    expectDone: async ({ role, siteId, page, start }, merchant) => {
      const description = `Flowers ${randomInt(1e9)}`;
      const owner = merchant.person('owner', siteId !== undefined);
      await owner.page.goto(`${start}/requests/new`);
      await requestPayment(owner.page, description, merchant.site.siteId);
      await page.goto(`${start}/requests`);
      await page.getByRole('link', { name: description, exact: true }).click();
      await page.getByRole('img', { name: 'QR code that opens the payment page' }).waitFor();
      const changes = page.getByRole('button', { name: /^(Cancel the request|Send)$/ });
      expect(await changes.count()).toBe(role === 'developer' ? 0 : 2);
    },
  },
  {
    name: 'reads the settlements of a day',
    roles: ['owner', 'finance'],
    rights: ['settlements.read'],
    path: () => '/settlements',
    expectDone: async ({ page, start }, { paid }) => {
      await page.goto(`${start}/settlements`);
      const day = page.getByRole('table', { name: 'Days with movements' }).getByRole('link').first();
      await reloadUntil(page, day);
      await day.click();
      const movement = page.getByRole('table', { name: 'Movements of the day' }).getByRole('row', { name: paid.order });
      await movement.first().getByText('R 250.00').waitFor();
    },
  },
  {
    name: 'opens a dispute from the page of today',
    roles: ['owner', 'finance', 'support'],
    rights: ['disputes.read'],
    path: () => '/disputes',
    expectDone: async ({ page, start }, merchant) => {
      await disputePayment(merchant);
      await page.goto(start);
      await page.getByRole('link', { name: /^1 dispute to answer, by / }).click();
      await page.getByRole('link', { name: merchant.paid.order }).click();
      await page.getByText('Dispute: amount deducted, R 250.00').waitFor();
    },
  },
];

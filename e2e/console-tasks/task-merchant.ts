/** The merchant whose people do the tasks: two sites, a server, people of each role, and payments made through the APIs. */
import { randomInt, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Role, ROLES } from '@svc/contracts';
import { PartnerClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import type { Page } from 'playwright-core';
import { ConsoleBrowser } from '../browser/console-browser.js';
import { gatewayClient, newSessionRequest, onboardSites } from '../callers/merchant.js';
import { APPROVED_CARD, preparePayRequest, sendPayRequest } from '../callers/payer.js';
import { createInvoice } from '../callers/till.js';
import { scanFiles } from '../consistency/card-scan.js';
import type { MerchantSite, Platform } from '../platform/platform.js';
import { MerchantServer } from './merchant-server.js';
import { joinMerchant, type Person } from './people.js';

const WAIT_MS = 20_000;
const CUSTOMER = { firstName: 'Thandi', lastName: 'Nkosi' };
export const CUSTOMER_NAME = 'Thandi Nkosi';

export interface PaidOrder {
  readonly order: string;
  readonly paymentReference: string;
}

export class TaskMerchant {
  /** API keys that a page has shown. */
  readonly shownSecrets: string[] = [];
  /** When the last test of a site's webhook was sent. */
  readonly testedAt = new Map<number, number>();
  private readonly people = new Map<string, Person>();
  private readonly checkedPages = new Set<string>();

  private constructor(
    readonly platform: Platform,
    readonly browser: ConsoleBrowser,
    readonly server: MerchantServer,
    /** The site of the tasks, and of people with one site. */
    readonly site: MerchantSite,
    readonly otherSite: MerchantSite,
    readonly paid: PaidOrder,
    /** Paid by a partner's customer, whose name is {@link CUSTOMER_NAME}. */
    readonly paidByCustomer: PaidOrder,
    readonly paidAtOtherSite: PaidOrder,
  ) {}

  static async start(platform: Platform): Promise<TaskMerchant> {
    const [[site, otherSite], browser, server] = await Promise.all([
      onboardSites(platform, 'Fynbos Flowers', ['Online', 'Market']),
      ConsoleBrowser.start(platform),
      MerchantServer.start(),
    ]);
    const [paid, paidByCustomer, paidAtOtherSite] = await Promise.all([
      payOrder(platform, site!, server.url, 25_000),
      payAsCustomer(platform, site!),
      payOrder(platform, otherSite!, server.url, 31_000),
    ]);
    const merchant = new TaskMerchant(
      ...([platform, browser, server, site!, otherSite!, paid, paidByCustomer, paidAtOtherSite] as const),
    );
    await merchant.inviteEveryone();
    return merchant;
  }

  /** The person with this role at all sites, or at the site of the tasks. */
  person(role: Role, isOfOneSite: boolean): Person {
    return this.people.get(`${role} ${isOfOneSite}`)!;
  }

  /** Pays a new order at the site of the tasks, and waits until the console shows it. */
  pay(amount: number, order = newOrder()): Promise<PaidOrder> {
    return payOrder(this.platform, this.site, this.server.url, amount, order);
  }

  /** Pays an order whose webhooks the merchant's server refuses. */
  payRefused(amount: number): Promise<PaidOrder> {
    const order = newOrder();
    this.server.refuse(order);
    return this.pay(amount, order);
  }

  /** The mail to this address, which development writes into a file. */
  readMail(email: string): Promise<string> {
    const folder = join(this.platform.dataDir, 'mail');
    return waitUntil(`the mail to ${email}`, WAIT_MS, () =>
      Promise.resolve(
        readdirSync(folder)
          .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll(/=\r?\n/g, ''))
          .find((mail) => mail.includes(`To: ${email}`)),
      ),
    );
  }

  /** Checks a page in all its appearances once, for the first person who sees it. */
  async expectAccessible(page: Page, name: string): Promise<void> {
    if (this.platform.mode === 'distributed' || this.checkedPages.has(name)) return;
    this.checkedPages.add(name);
    await this.browser.expectAccessible(page, name);
  }

  /** The log files that contain a secret of a page. */
  findLoggedSecrets(): unknown[] {
    return scanFiles(join(this.platform.dataDir, 'log'), this.shownSecrets);
  }

  async stop(): Promise<void> {
    try {
      await this.browser.closePages();
    } finally {
      await this.browser.stop();
      this.server.stop();
    }
  }

  private async inviteEveryone(): Promise<void> {
    for (const role of ROLES)
      await Promise.all(
        [undefined, this.site.siteId].map(async (siteId) => {
          const page = await this.browser.openPage();
          const person = await joinMerchant(this.platform, page, this.site, role, siteId);
          this.people.set(`${role} ${siteId !== undefined}`, person);
        }),
      );
  }
}

function newOrder(): string {
  return `FLOWER-${randomInt(1e9)}`;
}

async function payOrder(
  platform: Platform,
  site: MerchantSite,
  notificationUrl: string,
  amount: number,
  order = newOrder(),
): Promise<PaidOrder> {
  const request = newSessionRequest(notificationUrl, { merchantOrderId: order, amount });
  const { redirectUrl } = await gatewayClient(platform, site).createSession(request);
  const { state } = await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));
  expect(state).toBe('succeeded');
  return awaitPayment(platform, order);
}

async function payAsCustomer(platform: Platform, site: MerchantSite): Promise<PaidOrder> {
  const { apiUrl, partner } = platform.demo;
  const [order, amount] = [newOrder(), 19_900];
  const { code } = await createInvoice(platform, { amount, externalReference: order }, site);
  await new PartnerClient({ apiUrl, ...partner }).service.pay({
    ...{ reference: randomUUID(), code, amount },
    customer: { id: randomUUID(), ...CUSTOMER },
    card: APPROVED_CARD,
    returnUrl: 'http://127.0.0.1:9/return',
  });
  return awaitPayment(platform, order);
}

function awaitPayment(platform: Platform, order: string): Promise<PaidOrder> {
  return waitUntil(`order ${order} in the console`, WAIT_MS, async () => {
    const [row] = await platform.sql<{ paymentReference: string }>(
      `SELECT payment_reference AS "paymentReference" FROM console.payments WHERE order_reference = $1 AND state = 'success'`,
      [order],
    );
    return row && { order, ...row };
  });
}

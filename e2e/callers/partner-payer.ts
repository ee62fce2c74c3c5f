/** The payer of a partner's payment, whose bank verifies the payer in a real browser. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PartnerClient, type PartnerPayment, type ServicePayRequest } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { closeContext, recordPageErrors, waitForHeading, waitForUrl } from '../browser/browser.js';
import type { Platform } from '../platform/platform.js';
import { createInvoice } from './till.js';

/** Heading of the partner's page to which the payer returns. */
const RETURN_HEADING = 'Welcome back';
const RETURN_PAGE = `<!doctype html><html lang="en"><title>Partner</title><link rel="icon" href="data:,"><h1>${RETURN_HEADING}</h1></html>`;

export class PartnerPayer {
  page!: Page;
  readonly pageErrors: string[];

  private constructor(
    private readonly client: PartnerClient,
    private readonly request: ServicePayRequest,
    readonly payment: PartnerPayment,
    private readonly context: BrowserContext,
    private readonly returnServer: Server,
  ) {
    this.pageErrors = recordPageErrors(context);
  }

  /** The partner's server pays a new invoice with this card, and its payer opens our page. */
  static async pay(
    platform: Platform,
    browser: Browser,
    { cardNumber, amount }: { readonly cardNumber: string; readonly amount: number },
  ): Promise<PartnerPayer> {
    const returnServer = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(RETURN_PAGE);
    });
    returnServer.listen(0, '127.0.0.1');
    await once(returnServer, 'listening');
    const { apiUrl, partner } = platform.demo;
    const client = new PartnerClient({ apiUrl, ...partner });
    const request: ServicePayRequest = {
      reference: randomUUID(),
      code: (await createInvoice(platform, { amount })).code,
      customer: { id: randomUUID() },
      amount,
      card: {
        cardNumber: cardNumber.replaceAll(' ', ''),
        ...{ cvv: '737', holderName: 'T Nkosi', expiryMonth: 3, expiryYear: 2030 },
      },
      returnUrl: `http://127.0.0.1:${(returnServer.address() as AddressInfo).port}/return?order=7`,
    };
    const payment = await client.service.pay(request);
    const context = await browser.newContext({ locale: 'en-ZA', viewport: { width: 390, height: 844 } });
    const payer = new PartnerPayer(client, request, payment, context, returnServer);
    await payer.openLink();
    await waitForHeading(payer.page, 'Confirm your payment');
    return payer;
  }

  /** Opens the link of the payment in a new tab. */
  async openLink(): Promise<void> {
    this.page = await this.context.newPage();
    await this.page.goto(this.payment.verificationUrl!);
  }

  /** Continues from our page, which collects the data of the browser, to the page of the bank. */
  async continueToBank(bankHeading: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Continue' }).click();
    await waitForHeading(this.page, bankHeading);
  }

  /** Waits until the tab shows the partner's page, at exactly the address that the partner has sent. */
  async returnsToPartner(): Promise<void> {
    await waitForUrl(this.page, 'the page of the partner', ({ href }) => href === this.request.returnUrl);
    await waitForHeading(this.page, RETURN_HEADING);
  }

  /** Status and error references as the partner sees them, such as `failed 17`. The same reference is charged only once. */
  async outcome(): Promise<string> {
    const { status, errors } = await this.client.service.pay(this.request);
    return [status, ...errors.map(({ errorReference }) => errorReference)].join(' ');
  }

  /** Waits for the outcome: the payer returns to the partner before the platform submits the bank's result. */
  async hasOutcome(expected: string): Promise<void> {
    await waitUntil(`the outcome ${expected}`, 20_000, async () => (await this.outcome()) === expected);
  }

  async leave(): Promise<void> {
    await closeContext(this.context);
    this.returnServer.closeAllConnections();
    this.returnServer.close();
  }
}

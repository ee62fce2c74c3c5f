/** Creates every state of the payer's page on the real platform, and returns the page's address. */
import { randomUUID } from 'node:crypto';
import type { HostedGatewayClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { gatewayClient, newSessionRequest } from '../callers/merchant.js';
import { preparePayRequest, sendPayRequest } from '../callers/payer.js';
import { callTillApi, createInvoice } from '../callers/till.js';
import type { Platform } from '../platform/platform.js';

const UNUSED_URL = 'http://127.0.0.1:9/hook';

export interface PageState {
  readonly name: string;
  /** The main heading. */
  readonly heading: string;
  /** Creates a session or an invoice in this state, and returns the address of its page. */
  readonly createUrl: (at: PageStates) => Promise<string>;
}

export class PageStates {
  private readonly client: HostedGatewayClient;

  /** @param site of the sessions, invoices and tills; by default the first demo site */
  constructor(
    private readonly platform: Platform,
    private readonly site = platform.site(0, 0),
  ) {
    this.client = gatewayClient(platform, site);
  }

  async open(changes: Parameters<typeof newSessionRequest>[1] = {}): Promise<string> {
    const customFields = [
      { key: 'Coffee', value: '2 × Karoo Sunrise' },
      { key: 'Delivery', value: 'Thursday, to your door' },
    ];
    const request = newSessionRequest(UNUSED_URL, { siteName: 'Web shop', customFields, ...changes });
    return (await this.client.createSession(request)).redirectUrl;
  }

  /** A session with a basket, by default of three products with delivery. */
  async basket(lines = 3): Promise<string> {
    if (lines === 3)
      return this.open({
        amount: 148_445,
        customFields: [],
        lineItems: [
          { name: 'Karoo Sunrise', unitPrice: 12_345, quantity: 1 },
          { name: 'Swartberg Espresso, whole beans, roasted on Wednesday', unitPrice: 14_900, quantity: 8 },
          { name: 'Enamel Mug', unitPrice: 9_900, quantity: 1 },
        ],
        shippingAmount: 7_000,
        taxAmount: 19_362,
      });
    const amount = 100_000;
    const names = Array.from({ length: lines }, (_, index) => `Line ${index + 1} of the order`);
    const unitPrice = Math.floor((amount - 6_000) / lines);
    const [firstName, ...otherNames] = names;
    return this.open({
      amount,
      customFields: [],
      lineItems: [
        { name: firstName!, unitPrice: amount - 6_000 - unitPrice * (lines - 1) },
        ...otherNames.map((name) => ({ name, unitPrice })),
      ],
      shippingAmount: 6_000,
      taxAmount: 13_043,
    });
  }

  async paidWith(...cardNumbers: string[]): Promise<string> {
    const url = await this.open();
    for (const cardNumber of cardNumbers)
      await sendPayRequest(this.platform.demo.gatewayUrl, await preparePayRequest(url, cardNumber));
    return url;
  }

  /** The address behind the session's code, for a phone that scans it. */
  async scanned(url: string): Promise<string> {
    const [session] = await this.platform.sql<{ code: string }>(
      `SELECT code FROM hosted_gateway.sessions WHERE session_id = $1`,
      [sessionIdOf(url)],
    );
    return this.unknownCode(session?.code);
  }

  unknownCode(code = '0'.repeat(20)): string {
    return `${this.platform.demo.gatewayUrl}/c/${code}`;
  }

  /** Creates an invoice. Returns the address in its code as soon as the gateway knows the code. */
  async invoice(): Promise<string> {
    return this.waitUntilKnown((await createInvoice(this.platform, {}, this.site)).code);
  }

  /** Creates an invoice that another payer has paid by card. */
  async invoicePaid(): Promise<string> {
    const code = await this.invoice();
    await sendPayRequest(this.platform.demo.gatewayUrl, await preparePayRequest(code));
    return code;
  }

  /** Creates an invoice that the till has closed. */
  async invoiceClosed(): Promise<string> {
    const externalReference = randomUUID();
    const { code } = await createInvoice(this.platform, { externalReference }, this.site);
    await this.waitUntilKnown(code);
    const path = `/invoices?externalReference=${externalReference}`;
    await callTillApi(this.platform, 'DELETE', path, '*/*', undefined, this.site);
    await waitUntil('the page of the closed invoice', 5_000, async () =>
      (await (await fetch(code)).text()).includes('no longer used'),
    );
    return code;
  }

  /** The printed code of a till without a basket. */
  async till(): Promise<string> {
    const path = `/tills/TILL-${randomUUID()}/code`;
    const answer = await callTillApi(this.platform, 'PUT', path, 'text/plain', undefined, this.site);
    return this.waitUntilKnown(await answer.text());
  }

  private async waitUntilKnown(code: string): Promise<string> {
    await waitUntil('the gateway to know the code', 5_000, async () => (await fetch(code)).ok);
    return code;
  }

  async cancelled(): Promise<string> {
    const url = await this.open();
    await this.client.cancelSession(sessionIdOf(url));
    return url;
  }

  async expired(): Promise<string> {
    return this.updateSession(
      await this.open(),
      `UPDATE hosted_gateway.sessions SET expires_at = created_at WHERE session_id = $1`,
    );
  }

  /** Changes the database directly, because some states last only a moment with a working acquirer. */
  async updateSession(url: string, statement: string, ...parameters: unknown[]): Promise<string> {
    await this.platform.sql(statement, [sessionIdOf(url), ...parameters]);
    return url;
  }

  async processing(): Promise<string> {
    return this.updateSession(
      await this.open(),
      `UPDATE hosted_gateway.sessions SET payable_state = 'reserved', payable_version = 2, payment_count = 1 WHERE session_id = $1`,
    );
  }

  /**
   * Creates a payment that has been processing for a minute. It stays in this state, because payment-processor has no
   * such payment.
   */
  async overdue(): Promise<string> {
    const [other] = await this.platform.sql<{ snapshot: object }>(
      `SELECT snapshot FROM hosted_gateway.hosted_payments LIMIT 1`,
    );
    const accepted = new Date(Date.now() - 60_000).toISOString();
    const snapshot = { ...other?.snapshot, state: 'processing', paymentUTCDate: accepted, modifiedUTCDate: accepted };
    return this.updateSession(
      await this.processing(),
      `INSERT INTO hosted_gateway.hosted_payments VALUES ($2, $1, $3, $4, 2)`,
      randomUUID(),
      JSON.stringify(snapshot),
      accepted,
    );
  }

  notFound(): string {
    return `${this.platform.demo.gatewayUrl}/pay?sessionId=${randomUUID()}`;
  }
}

export const APPROVED = '4242424242424242';
export const DECLINED = '4000000000000002';
export const VERIFIED = '4000000000003220';

const MAKE_PAYMENT_OLDER = `UPDATE hosted_gateway.hosted_payments
                  SET snapshot = jsonb_set(snapshot::jsonb, '{modifiedUTCDate}', to_jsonb($2::text))::json WHERE session_id = $1`;

export const PAGE_STATES: readonly PageState[] = [
  { name: 'open', heading: 'Pay by card', createUrl: (at) => at.open() },
  { name: 'declined', heading: 'Pay by card', createUrl: (at) => at.paidWith(DECLINED) },
  { name: 'basket', heading: 'Pay by card', createUrl: (at) => at.basket() },
  { name: 'long-basket', heading: 'Pay by card', createUrl: (at) => at.basket(500) },
  { name: 'processing', heading: 'Confirming with your bank…', createUrl: (at) => at.processing() },
  { name: 'still-checking', heading: 'This is taking longer than usual', createUrl: (at) => at.overdue() },
  { name: 'verification', heading: 'Confirm the payment with your bank', createUrl: (at) => at.paidWith(VERIFIED) },
  { name: 'succeeded', heading: 'Payment successful', createUrl: (at) => at.paidWith(APPROVED) },
  {
    name: 'already-paid',
    heading: 'This order is already paid',
    createUrl: async (at) =>
      at.updateSession(await at.paidWith(APPROVED), MAKE_PAYMENT_OLDER, new Date(Date.now() - 600_000).toISOString()),
  },
  {
    name: 'given-back',
    heading: 'Payment successful',
    createUrl: async (at) =>
      at.updateSession(
        await at.paidWith(DECLINED, APPROVED),
        `UPDATE hosted_gateway.hosted_payments SET reversed_at = accepted_at WHERE session_id = $1 AND snapshot->>'state' = 'failed'`,
      ),
  },
  {
    name: 'refused',
    heading: 'This payment cannot be tried again',
    createUrl: (at) => at.paidWith(DECLINED, DECLINED, DECLINED, DECLINED, DECLINED),
  },
  {
    name: 'expired',
    heading: 'This payment page has expired',
    createUrl: (at) => at.expired(),
  },
  { name: 'cancelled', heading: 'This payment was cancelled', createUrl: (at) => at.cancelled() },
  { name: 'not-found', heading: 'This payment page does not exist', createUrl: async (at) => at.notFound() },
  { name: 'scanned', heading: 'Pay by card', createUrl: async (at) => at.scanned(await at.open()) },
  {
    name: 'scanned-paid',
    heading: 'Payment successful',
    createUrl: async (at) => at.scanned(await at.paidWith(APPROVED)),
  },
  {
    name: 'scanned-expired',
    heading: 'This payment page has expired',
    createUrl: async (at) => at.scanned(await at.expired()),
  },
  { name: 'invoice', heading: 'Pay by card', createUrl: (at) => at.invoice() },
  { name: 'invoice-paid', heading: 'This order is already paid', createUrl: (at) => at.invoicePaid() },
  { name: 'invoice-closed', heading: 'This code is no longer used', createUrl: (at) => at.invoiceClosed() },
  { name: 'till', heading: 'Nothing to pay at this till yet', createUrl: (at) => at.till() },
  { name: 'unknown-code', heading: 'This code cannot be paid here', createUrl: async (at) => at.unknownCode() },
];

function sessionIdOf(url: string): string {
  return new URL(url).searchParams.get('sessionId') ?? '';
}

/** The payer of a partner's payment at the emulator of Adyen. */
import { randomUUID } from 'node:crypto';
import type { InvoiceSource, PayableDescriptor } from '@svc/contracts';
import { DeleteCard } from '../../src/cards/delete-card.js';
import { createPartner, openInvoice, type PartnerUnderTest } from '../partner.js';
import type { Processor } from '../processor.js';
import { type EmulatorPayment, ProcessorWithAdyen } from './adyen-emulator.js';

/** Test cards of Adyen. */
const CARD = { expiryMonth: 3, expiryYear: 2030, cvv: '737', holderName: 'Nomsa Dlamini' };
export const FRICTIONLESS = { ...CARD, cardNumber: '4111111111111111' };
export const CHALLENGED = { ...CARD, cardNumber: '4212345678901237' };
export const RETURN_URL = 'https://partner.example/back?x=1';
export const USER_AGENT = 'Mozilla/5.0 (a planted browser)';
export const PAYER_ADDRESS = '203.0.113.77';
/** The data that the script of our page sends. */
export const BROWSER = {
  language: 'xh-ZA',
  screenWidth: 1441,
  screenHeight: 903,
  colorDepth: 24,
  timeZoneOffsetMinutes: -120,
};

/** The response of `POST /v1/payments`. */
export interface PartnersPayment {
  readonly paymentReference: string;
  readonly status: string;
  readonly verificationUrl: string;
  readonly errors: { readonly errorReference: string }[] | null;
}

interface Page {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export class BrowserPayer {
  partner!: PartnerUnderTest;
  invoice!: PayableDescriptor<InvoiceSource>;
  /** The last request of {@link pay}. */
  request: Record<string, unknown> = {};

  private constructor(private readonly adyen: ProcessorWithAdyen) {}

  static async start(): Promise<BrowserPayer> {
    return new BrowserPayer(await ProcessorWithAdyen.start());
  }

  get processor(): Processor {
    return this.adyen.processor;
  }

  /** Uses a new invoice of a new merchant. */
  async useNewInvoice(): Promise<void> {
    const { processor } = this;
    const expiresAt = processor.clock.later(7_200_000).toISOString();
    this.invoice = await openInvoice(processor, { ...(await this.adyen.createMerchant()), expiresAt });
    // From now on the merchant's account applies.
    processor.clock.advance(1_000);
  }

  /** Uses another organisation, or a new token of this one. A token expires when a test advances the clock. */
  async useNewToken(organisationId?: string): Promise<void> {
    this.partner = await createPartner(this.processor, 'test', organisationId);
  }

  /** `POST /v1/payments` */
  async pay(card: object, overrides: Record<string, unknown> = {}): Promise<PartnersPayment> {
    this.request = {
      reference: randomUUID(),
      customer: { id: randomUUID() },
      returnUrl: RETURN_URL,
      paymentMethod: { card },
      ...overrides,
    };
    const { status, body } = await this.partner.pay(this.invoice, this.request);
    expect([status, body.status]).toEqual([201, 'verificationRequired']);
    return body;
  }

  /** Sends the last request again. */
  async repeat(): Promise<PartnersPayment> {
    return (await this.partner.pay(this.invoice, this.request)).body;
  }

  /** Status and error references of the last payment, such as `failed 17`. */
  async outcome(): Promise<string> {
    await this.useNewToken(this.partner.organisationId);
    const { status, errors } = await this.repeat();
    return [status, ...(errors ?? []).map(({ errorReference }) => errorReference)].join(' ');
  }

  /** Opens a URL of this service, or sends a form to it, as a browser does. */
  async open(url: string, form?: Record<string, string>): Promise<Page> {
    const { origin, pathname, search } = new URL(url);
    expect(origin).toBe('https://api.svc.example');
    const response = await this.processor.service.app.inject({
      method: form ? 'POST' : 'GET',
      url: pathname + search,
      remoteAddress: PAYER_ADDRESS,
      headers: {
        accept: 'text/html,*/*;q=0.8',
        'user-agent': USER_AGENT,
        ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      ...(form ? { payload: new URLSearchParams(form).toString() } : {}),
    });
    const { statusCode: status, body, headers } = response;
    return { status, location: headers.location, body, headers };
  }

  /** Presses the button of our page. */
  press({ verificationUrl }: Pick<PartnersPayment, 'verificationUrl'>): Promise<Page> {
    return this.open(verificationUrl, { browser: JSON.stringify(BROWSER) });
  }

  /** Answers on the bank's page, and returns the URL to which the bank redirects the payer. */
  async answerBank(url: string | undefined, answer: 'pass' | 'fail'): Promise<string> {
    const body = new URLSearchParams({ answer });
    const { headers } = await fetch(url!, { method: 'POST', body, redirect: 'manual' });
    return headers.get('location')!;
  }

  async findAtAdyen({
    paymentReference,
  }: PartnersPayment): Promise<{ payments: readonly EmulatorPayment[]; challenges: readonly EmulatorPayment[] }> {
    const { payments, challenges } = await this.adyen.state();
    return {
      payments: payments.filter(({ order }) => order.reference === paymentReference),
      challenges: challenges.filter(({ order }) => order.reference === paymentReference),
    };
  }

  async readAttempts({ paymentReference }: PartnersPayment): Promise<string[]> {
    const rows = await this.processor.dataSource.query<{ state: string }[]>(
      `SELECT a.state FROM attempts a JOIN payments p USING (payment_id)
        WHERE p.payment_reference = $1 ORDER BY a.started_at, a.attempt_id`,
      [paymentReference],
    );
    return rows.map(({ state }) => state);
  }

  /** Number of cards in the vault. */
  async countStoredCards(): Promise<number> {
    return (await this.adyen.state()).storedCards.filter(({ isDeleted }) => !isDeleted).length;
  }

  /** Runs the job that deletes cards in the vault. */
  async deleteCards(): Promise<void> {
    await this.processor.service.app.get(DeleteCard).deleteAtAcquirer('adyen');
  }

  addFault(fault: Readonly<Record<string, unknown>>): Promise<void> {
    return this.adyen.addFault(fault);
  }

  clearFaults(): Promise<void> {
    return this.adyen.clearFaults();
  }

  stop(): Promise<void> {
    return this.adyen.stop();
  }
}

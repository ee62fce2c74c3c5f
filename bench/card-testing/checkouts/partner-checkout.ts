/** Payments of a partner's customers, which the partner's server sends to the main API. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { CardData } from '@svc/sdk/card';
import { Pool } from 'undici';
import {
  type AttemptOutcome,
  type Checkout,
  CONFLICT_STATUS,
  type Invoice,
  MAX_PRESSES,
  type PartnerCredentials,
  PRESS_PAUSE_MS,
  REFUSED_STATUS,
} from './checkout.ts';

const CONNECTIONS = 64;
const OUTCOMES: Readonly<Record<string, AttemptOutcome>> = {
  success: 'approved',
  failed: 'declined',
  verificationRequired: 'verification',
};

/** A partner's server. */
export class PartnerServer {
  private readonly pool: Pool;
  private readonly headers: Readonly<Record<string, string>>;

  private constructor(pool: Pool, headers: Readonly<Record<string, string>>) {
    this.pool = pool;
    this.headers = headers;
  }

  static async logIn(apiUrl: string, { organisationId, apiKey, apiToken }: PartnerCredentials): Promise<PartnerServer> {
    const pool = new Pool(apiUrl, { connections: CONNECTIONS, pipelining: 1 });
    const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
    const body = JSON.stringify({ organisationId, apiToken });
    const response = await pool.request({ method: 'POST', path: '/v1/auth/service/login', headers, body });
    if (response.statusCode !== 200) throw new Error(`The partner cannot log in: ${response.statusCode}`);
    const { identityToken } = (await response.body.json()) as { identityToken: string };
    return new PartnerServer(pool, { ...headers, authorization: `Bearer ${identityToken}` });
  }

  /** Throws until payment-processor, which receives them in an event, knows the credentials. */
  async checkAccess(): Promise<void> {
    const { status } = await this.post('/v1/payments', {});
    if (status !== 400) throw new Error(`The partner's key is not accepted: ${status}`);
  }

  async post(path: string, body: object): Promise<{ status: number; text: string }> {
    const response = await this.pool.request({
      method: 'POST',
      path,
      headers: this.headers,
      body: JSON.stringify(body),
    });
    return { status: response.statusCode, text: await response.body.text() };
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }
}

export class PartnerCheckout implements Checkout {
  readonly waits = 0;
  pressesAgain = 0;
  private readonly server: PartnerServer;
  private readonly invoice: Invoice;
  private readonly customerId = randomUUID();
  private request: object = {};
  private verificationUrl: string | undefined;

  constructor(server: PartnerServer, invoice: Invoice) {
    this.server = server;
    this.invoice = invoice;
  }

  async attempt(card: CardData): Promise<AttemptOutcome> {
    this.request = {
      reference: randomUUID(),
      code: Buffer.from(this.invoice.code).toString('base64'),
      amount: this.invoice.amount,
      customer: { id: this.customerId },
      paymentMethod: { card },
    };
    return this.send();
  }

  /** Sends the payment again after the verification: the response is its state. */
  async confirm(): Promise<AttemptOutcome> {
    await fetch(this.verificationUrl!, { method: 'POST', body: new URLSearchParams({ answer: 'confirm' }) });
    return this.send();
  }

  private async send(): Promise<AttemptOutcome> {
    const { status, text } = await this.server.post('/v1/payments', this.request);
    if (status === CONFLICT_STATUS && this.pressesAgain++ < MAX_PRESSES) {
      await pause(PRESS_PAUSE_MS);
      return this.send();
    }
    if (status === REFUSED_STATUS) return 'refused';
    const payment = JSON.parse(text) as { status?: string; verificationUrl?: string };
    const outcome = OUTCOMES[payment.status ?? ''];
    if (outcome === undefined) throw new Error(`POST /v1/payments: ${status} ${text.slice(0, 300)}`);
    this.verificationUrl = payment.verificationUrl;
    return outcome;
  }
}

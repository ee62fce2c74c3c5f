/**
 * Payers and administrators who never stop, and never try anything twice: each request is sent once, and what came of
 * it is kept. Nothing here retries, not even the SDK: its client would hide what this is there to find.
 */
import type { CreatedSession } from '@svc/sdk';
import type { Service } from '../../tools/svc/base/settings.ts';
import { aSessionRequest } from '../callers/merchant.js';
import { fillInPage } from '../callers/payer.js';
import type { Platform } from '../platform/platform.js';

export interface Sent {
  readonly request: string;
  /** Milliseconds since 1970, as in the platform's log. */
  readonly from: number;
  readonly to: number;
  /** Why the answer is not the one that is documented for success; undefined when it is. */
  readonly failure: string | undefined;
}

interface Expected {
  readonly status: number;
  /** What the text of the answer says. */
  readonly saying?: string;
}

/** Longer than the platform lets anybody wait. */
const ANSWER_MS_MAX = 60_000;

export class SteadyLoad {
  readonly sent: Sent[] = [];
  /** Payments from the merchant's cart to the payment that the merchant reads, without one failure. */
  paid = 0;
  private isOver = false;
  private people: Promise<void>[] = [];

  constructor(
    private readonly platform: Platform,
    private readonly notificationUrl: string,
  ) {}

  /** Of the payers, one after the other also looks at each service that is not on their way through a payment. */
  start(payers: number): void {
    const looks = this.looks();
    this.people = Array.from({ length: payers }, async (_, index) => {
      const look = looks[index];
      while (!this.isOver) {
        // A failure is kept in `sent`; this payer gives up, and the next one comes.
        await this.pay().catch(() => undefined);
        await look?.().catch(() => undefined);
      }
    });
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.people);
  }

  private async pay(): Promise<void> {
    const { gatewayUrl } = this.platform.demo;
    const site = this.platform.site(0, 0);
    const headers = {
      merchantId: String(site.merchant.merchantId),
      merchantSiteId: String(site.siteId),
      'x-api-key': site.apiKey,
    };
    const json = { 'content-type': 'application/json' };
    const created = await this.send(
      'create a session',
      `${gatewayUrl}/api/v3.1/sessions`,
      { status: 201 },
      {
        method: 'POST',
        headers: { ...headers, ...json },
        body: JSON.stringify(aSessionRequest(this.notificationUrl)),
      },
    );
    const { sessionId, redirectUrl } = JSON.parse(created) as CreatedSession;
    const page = await this.send('open the page', redirectUrl, { status: 200, saying: 'data-encryption-key="' });
    const { body } = await fillInPage(page);
    await this.send(
      'press Pay',
      `${gatewayUrl}/pay/${sessionId}/payments`,
      { status: 200, saying: '"succeeded"' },
      {
        method: 'POST',
        headers: json,
        body,
      },
    );
    const payments = `${gatewayUrl}/api/v3.1/payments?sessionId=${sessionId}`;
    await this.send('read the payment', payments, { status: 200, saying: '"paymentStatus":"Success"' }, { headers });
    this.paid++;
  }

  private looks(): (() => Promise<string>)[] {
    const { adminUrl, adminKey, shopUrl } = this.platform.demo;
    const headers = { 'x-admin-key': adminKey };
    const ask = (path: string) => () => this.send(path, `${adminUrl}/admin/v1/${path}`, { status: 200 }, { headers });
    const looks: Readonly<Record<Exclude<Service, 'hosted-gateway'>, () => Promise<string>>> = {
      identity: ask('merchants'),
      'payment-processor': ask('dead-letters/payment-processor'),
      'webhook-dispatcher': ask('notifications'),
      'code-decoder': ask('dead-letters/code-decoder'),
      'payment-history': ask('dead-letters/payment-history'),
      'merchant-retrieval': ask('dead-letters/merchant-retrieval'),
      'demo-shop': () => this.send('open the shop', shopUrl, { status: 200 }),
    };
    return Object.values(looks);
  }

  private async send(request: string, url: string, expected: Expected, init: RequestInit = {}): Promise<string> {
    const from = Date.now();
    let failure: string | undefined;
    try {
      const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
      const text = await answer.text();
      if (answer.status === expected.status && text.includes(expected.saying ?? '')) return text;
      failure = `${answer.status} ${text.slice(0, 200)}`;
    } catch (error) {
      failure = `${String(error)}, ${String((error as Error).cause)}`;
    } finally {
      this.sent.push({ request, from, to: Date.now(), failure });
    }
    throw new Error(`${request}: ${failure}`);
  }
}

export function failuresOf(sent: readonly Sent[]): string[] {
  return sent.flatMap(({ request, failure }) => (failure === undefined ? [] : [`${request}: ${failure}`]));
}

/**
 * Continuous load of payers and administrators. Each request is sent once, and its result is kept. No client retries,
 * not even the SDK, because a retry would hide the failures that the test looks for.
 */
import type { CreatedSession } from '@svc/sdk';
import type { Service } from '../../tools/svc/settings/settings.ts';
import { newSessionRequest } from '../callers/merchant.js';
import { payRequestFromPage } from '../callers/payer.js';
import type { Platform } from '../platform/platform.js';

export interface SentRequest {
  readonly request: string;
  /** Milliseconds since 1970, as in the platform's log. */
  readonly from: number;
  readonly to: number;
  /** The error or the unexpected answer; undefined if the answer is the documented success. */
  readonly failure: string | undefined;
}

interface ExpectedAnswer {
  readonly status: number;
  /** A part of the answer's text. */
  readonly text?: string;
}

/** Longer than any time limit of the platform. */
const MAX_ANSWER_MS = 60_000;

export class SteadyLoad {
  readonly sent: SentRequest[] = [];
  /** Number of payments without a failure, from the merchant's cart until the merchant reads the payment. */
  paid = 0;
  private isOver = false;
  private turn = 0;
  private payers: Promise<void>[] = [];

  constructor(
    private readonly platform: Platform,
    private readonly notificationUrl: string,
    /** Addresses of replicas of hosted-gateway, to which the payers send their cards in turn. */
    private readonly gateways: readonly string[] = [platform.demo.gatewayUrl],
  ) {}

  /**
   * Starts payers that pay again and again. After each payment, each of the first payers also calls another service.
   */
  start(payers: number): void {
    const otherRequests = this.otherRequests();
    this.payers = Array.from({ length: payers }, async (_, index) => {
      const sendOtherRequest = otherRequests[index];
      while (!this.isOver) {
        // `sent` has the failure. This payer gives up, and the next payment starts.
        await this.pay().catch(() => undefined);
        await sendOtherRequest?.().catch(() => undefined);
      }
    });
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.payers);
  }

  private async pay(): Promise<void> {
    const gateway = this.gateways[this.turn++ % this.gateways.length]!;
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
        body: JSON.stringify(newSessionRequest(this.notificationUrl)),
      },
    );
    const { sessionId, redirectUrl } = JSON.parse(created) as CreatedSession;
    const page = await this.send('open the page', redirectUrl, { status: 200, text: 'data-encryption-key="' });
    const { body } = await payRequestFromPage(page);
    await this.send(
      'pay',
      `${gateway}/pay/${sessionId}/payments`,
      { status: 200, text: '"succeeded"' },
      {
        method: 'POST',
        headers: json,
        body,
      },
    );
    const payments = `${gatewayUrl}/api/v3.1/payments?sessionId=${sessionId}`;
    await this.send('read the payment', payments, { status: 200, text: '"paymentStatus":"Success"' }, { headers });
    this.paid++;
  }

  private otherRequests(): (() => Promise<string>)[] {
    const { adminUrl, adminKey, shopUrl } = this.platform.demo;
    const headers = { 'x-admin-key': adminKey };
    const readAsAdministrator = (path: string) => () =>
      this.send(path, `${adminUrl}/admin/v1/${path}`, { status: 200 }, { headers });
    const requests: Readonly<Record<Exclude<Service, 'hosted-gateway'>, () => Promise<string>>> = {
      identity: readAsAdministrator('merchants'),
      'payment-processor': readAsAdministrator('dead-letters/payment-processor'),
      'webhook-dispatcher': readAsAdministrator('notifications'),
      'code-decoder': readAsAdministrator('dead-letters/code-decoder'),
      'payment-history': readAsAdministrator('dead-letters/payment-history'),
      'merchant-retrieval': readAsAdministrator('dead-letters/merchant-retrieval'),
      console: () => this.send('open the console', `${this.platform.demo.consoleUrl}/sign-in`, { status: 200 }),
      'demo-shop': () => this.send('open the shop', shopUrl, { status: 200 }),
    };
    return Object.values(requests);
  }

  private async send(request: string, url: string, expected: ExpectedAnswer, init: RequestInit = {}): Promise<string> {
    const from = Date.now();
    let failure: string | undefined;
    try {
      const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(MAX_ANSWER_MS) });
      const text = await answer.text();
      if (answer.status === expected.status && text.includes(expected.text ?? '')) return text;
      failure = `${answer.status} ${text.slice(0, 200)}`;
    } catch (error) {
      failure = `${String(error)}, ${String((error as Error).cause)}`;
    } finally {
      this.sent.push({ request, from, to: Date.now(), failure });
    }
    throw new Error(`${request}: ${failure}`);
  }
}

export function failuresOf(sent: readonly SentRequest[]): string[] {
  return sent.flatMap(({ request, failure }) => (failure === undefined ? [] : [`${request}: ${failure}`]));
}

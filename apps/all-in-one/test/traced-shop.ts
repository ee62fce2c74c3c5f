import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@svc/testing';
import { dataAttribute } from './bank-and-platform.js';
import { encryptCard } from './encrypt-card.js';
import { newSessionRequest, TwoMerchants } from './hosted-callers.js';
import { ADMIN_KEY, findProvider, type MainApi } from './main-api.js';

export const DECLINED_CARD = '4000000000000002';

/** The members of the timeline's response that tests compare. */
export interface Entry {
  readonly utcDate: string;
  readonly event: string;
  readonly service: string;
  readonly amount?: number;
  readonly details: readonly { readonly name: string; readonly value: string }[];
  readonly requestId?: string;
  readonly isOpen?: true;
}
export interface Search {
  readonly matches: readonly { readonly kind: string; readonly reference: string; readonly state: string }[];
  readonly hasMore: boolean;
  readonly timeline: { readonly entries: readonly Entry[]; readonly missing: readonly object[] } | null;
  readonly missing: readonly { readonly service: string; readonly part: string }[];
}

/**
 * A shop whose server answers the webhooks of its sessions with the statuses that a test gives, and those of its site with 200;
 * and the operator of the platform.
 */
export class TracedShop {
  private readonly statuses: number[] = [];
  private readonly server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const status = (request.url!.startsWith('/site') ? undefined : this.statuses.shift()) ?? 200;
      response.writeHead(status).end(status === 200 ? '' : 'the shop is being deployed');
    });
  });

  private constructor(
    readonly api: MainApi,
    readonly merchants: TwoMerchants,
  ) {}

  static async open(api: MainApi): Promise<TracedShop> {
    const shop = new TracedShop(api, await TwoMerchants.onboard(api));
    shop.server.listen(0, '127.0.0.1');
    await once(shop.server, 'listening');
    const { merchantId, siteId } = shop.merchants.siteIds.get('site 1')!;
    const webhook = { webhookUrl: `${shop.url}/site`, webhookEnabled: true };
    await api.administer('PATCH', `/merchants/${merchantId}/sites/${siteId}`, webhook);
    await api.relayAllEvents();
    return shop;
  }

  private get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The statuses of the next webhooks; afterwards 200. */
  answerWith(...statuses: number[]): void {
    this.statuses.push(...statuses);
  }

  async createSession(merchantOrderId: string): Promise<{ sessionId: string; requestId: string }> {
    const requestId = randomUUID();
    const notificationUrl = `${this.url}/hook?secret=of-the-shop`;
    const response = await this.merchants.callAs('site 1', {
      method: 'POST',
      path: '/api/v3.1/sessions',
      body: { ...newSessionRequest(requestId), merchantOrderId, notificationUrl },
    });
    if (response.status !== 201) throw new Error(`${response.status} ${response.text}`);
    return { sessionId: (JSON.parse(response.text) as { sessionId: string }).sessionId, requestId };
  }

  /** Pays on the page at this path: of a session (`/pay?sessionId=…`) or of a scanned code (`/c/…`). */
  async pay(page: string, payableId: string, paymentNumber: number, cardNumber?: string): Promise<void> {
    const html = (await this.api.callHosted({ method: 'GET', path: page })).text;
    const key = JSON.parse(dataAttribute(html, 'encryption-key') ?? '') as Parameters<typeof encryptCard>[0];
    const binding = { sessionId: payableId, paymentNumber, expiresAt: dataAttribute(html, 'expires-at') };
    const encryptedCard = await encryptCard(key, binding, cardNumber);
    const path = page.startsWith('/c/') ? `${page}/payments` : `/pay/${payableId}/payments`;
    const body = { reference: randomUUID(), paymentNumber, encryptedCard, tipAmount: 0 };
    const paid = await this.api.callHosted({ method: 'POST', path, body });
    if (paid.status >= 500) throw new Error(`Not paid: ${paid.status} ${paid.text}`);
    await this.api.relayAllEvents();
  }

  /** Sends the notifications that are due now. */
  async sendNotifications(): Promise<void> {
    await this.api.relayAllEvents();
    const worker = findProvider(this.api, 'webhook-dispatcher', 'DeliveryWorker') as { runStep(): Promise<number> };
    while ((await worker.runStep()) > 0);
  }

  async refund(svcId: string, amount: number, reason: string): Promise<string> {
    const { merchantId } = this.merchants.siteIds.get('site 1')!;
    const response = await this.api.call({
      method: 'POST',
      path: `/business/api/v1/merchants/${merchantId}/refunds?svcId=${svcId}`,
      headers: { 'x-api-key': this.merchants.keys.get('merchant 1')!, 'idempotency-key': randomUUID() },
      body: { amount, reason },
    });
    if (response.status !== 201) throw new Error(`${response.status} ${response.text}`);
    await this.api.relayAllEvents();
    return (JSON.parse(response.text) as { refundReference: string }).refundReference;
  }

  async find(find: string, more: Readonly<Record<string, string>> = {}): Promise<Search> {
    const query = new URLSearchParams({ find, ...more });
    const path = `/admin/v1/timeline?${query}`;
    const response = await this.api.callAdmin({ method: 'GET', path, headers: { 'x-admin-key': ADMIN_KEY } });
    if (response.status !== 200) throw new Error(`${response.status} ${response.text}`);
    return JSON.parse(response.text) as Search;
  }

  /** Searches until the read model of the console has the events. */
  async findWhen(find: string, isComplete: (search: Search) => boolean): Promise<Search> {
    let search: Search | undefined;
    await waitUntil(`the timeline of ${find}`, 20_000, async () => {
      await this.api.relayAllEvents();
      search = await this.find(find);
      return isComplete(search);
    });
    return search!;
  }
}

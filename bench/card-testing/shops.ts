/** Merchants for the attacks: creates them, and is their shop's server, which creates sessions and invoices. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Administration } from '../../tools/svc/administration-api/administration.ts';
import { connectForDemo, createMerchant, type Demo } from '../../tools/svc/demo/seed.ts';
import type { Invoice, PartnerCredentials, Session } from './checkouts/checkout.ts';

const CONNECTIONS = 64;
/** Cents. */
const AMOUNT = 12_345;
const SITE_REFERENCE = 'ONLINE';
/** Services receive new credentials as events. */
const MAX_WAIT_MS = 30_000;

export interface Shop {
  readonly merchantId: number;
  readonly siteId: number;
  readonly apiKey: string;
}

export class Shops {
  private readonly admin: Administration;
  private readonly gateway: Pool;
  private readonly api: Pool;
  private readonly webhooks: Server;

  private constructor({ adminUrl, adminKey, gatewayUrl, apiUrl }: Demo, webhooks: Server) {
    this.admin = connectForDemo(adminUrl, adminKey);
    this.gateway = new Pool(gatewayUrl, { connections: CONNECTIONS, pipelining: 1 });
    this.api = new Pool(apiUrl, { connections: CONNECTIONS, pipelining: 1 });
    this.webhooks = webhooks;
  }

  static async open(demo: Demo): Promise<Shops> {
    // Accepts all webhooks, so that none is repeated.
    const webhooks = createServer((request, response) => request.resume().on('end', () => response.end()));
    webhooks.listen(0, '127.0.0.1');
    await once(webhooks, 'listening');
    return new Shops(demo, webhooks);
  }

  /** Creates merchants with one site each, and waits until all services accept their keys. */
  async create(name: string, count: number): Promise<Shop[]> {
    const create = async (number: number): Promise<Shop> => {
      const plan = { siteReference: SITE_REFERENCE, requireApiKey: true, allowedHosts: [] };
      const sites = [{ ...plan, name: `${name} ${number} Online` }];
      const { merchantId, sites: created } = await createMerchant(this.admin, { name: `${name} ${number}`, sites });
      const shop = { merchantId, siteId: created[0]!.siteId, apiKey: created[0]!.apiKey };
      await Promise.all([retry(() => this.createSession(shop)), retry(() => this.createInvoice(shop))]);
      return shop;
    };
    return Promise.all(Array.from({ length: count }, (_, index) => create(index + 1)));
  }

  async createPartner(name: string): Promise<PartnerCredentials> {
    const create = async (path: string, body: object): Promise<Record<string, string>> =>
      (await this.admin.call('POST', path, body)) as Record<string, string>;
    const { organisationId = '' } = await create('/organisations', { name });
    const { apiKey = '' } = await create(`/organisations/${organisationId}/keys`, { mode: 'test' });
    const { apiToken = '' } = await create(`/organisations/${organisationId}/api-tokens`, { mode: 'test' });
    return { organisationId, apiKey, apiToken };
  }

  async createSession({ merchantId, siteId, apiKey }: Shop): Promise<Session> {
    const headers = {
      merchantid: String(merchantId),
      merchantsiteid: String(siteId),
      'x-api-key': apiKey,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({
      requestId: randomUUID(),
      merchantOrderId: 'ORDER-1',
      amount: AMOUNT,
      currencyISOCode: 'ZAR',
      notificationUrl: `http://127.0.0.1:${(this.webhooks.address() as AddressInfo).port}/webhooks`,
      returnUrl: 'http://127.0.0.1:9/return',
      cancelUrl: 'http://127.0.0.1:9/cancel',
      origin: '127.0.0.1',
    });
    const path = '/api/v3.1/sessions';
    const { statusCode, body: response } = await this.gateway.request({ method: 'POST', path, headers, body });
    const text = await response.text();
    if (statusCode >= 300) throw new Error(`POST ${path}: ${statusCode} ${text.slice(0, 200)}`);
    return JSON.parse(text) as Session;
  }

  async createInvoice({ merchantId, siteId, apiKey }: Shop): Promise<Invoice> {
    const headers = { 'x-api-key': apiKey, accept: 'text/plain', 'content-type': 'application/json' };
    const body = JSON.stringify({
      externalReference: randomUUID(),
      siteReference: 'TILL-1',
      currencyISOCode: 'ZAR',
      amount: AMOUNT,
      origin: 'bench',
      createdUTCDate: new Date().toISOString(),
    });
    const path = `/business/api/v1/merchants/${merchantId}/sites/${siteId}/invoices`;
    const { statusCode, body: response } = await this.api.request({ method: 'POST', path, headers, body });
    const text = await response.text();
    if (statusCode !== 201) throw new Error(`POST ${path}: ${statusCode} ${text.slice(0, 200)}`);
    return { code: text, amount: AMOUNT };
  }

  async close(): Promise<void> {
    await Promise.all([this.gateway.destroy(), this.api.destroy()]);
    this.webhooks.close();
    this.webhooks.closeAllConnections();
    await once(this.webhooks, 'close');
  }
}

/** Repeats the work until it succeeds. */
export async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + MAX_WAIT_MS; ; await pause(50))
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
}

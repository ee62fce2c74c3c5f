import { randomUUID } from 'node:crypto';
import { newApiKey } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { encryptForPage } from './bank-and-platform.js';
import type { ApiRequest, ApiResponse, MainApi } from './main-api.js';

/** Merchant 1 has three sites, one of which accepts calls without a key; merchant 2 has one site. */
export const SITES = ['site 1', 'site 2', 'open site', 'site of merchant 2'] as const;
export type Site = (typeof SITES)[number];

/**
 * Names of the pairs of `merchantId` and `merchantSiteId` that a caller sends in headers. The last three pairs are not
 * valid.
 */
export const SITE_HEADERS = [...SITES, 'site 1 as of merchant 2', 'no site', 'no headers'] as const;
export type SiteHeaders = (typeof SITE_HEADERS)[number];

/** Names of the values of `x-api-key`. */
export const HOSTED_KEYS = [
  'none',
  'merchant 1',
  'merchant 1 live',
  'site 1',
  'site 1 live',
  'site 2',
  'site 2 live',
  'open site',
  'merchant 2',
  'merchant 2 live',
  'site of merchant 2',
  'site 1 revoked',
  'a partner',
  'an unknown one',
  'nonsense',
] as const;
export type HostedKey = (typeof HOSTED_KEYS)[number];

/**
 * The authenticated callers: a site in one mode, with any key that the site accepts. Each has a column in the table.
 */
export const HOSTED_COLUMNS = [
  'site 1',
  'site 1 live',
  'site 2',
  'site 2 live',
  'open site, no key',
  'open site',
  'open site live',
  'site of merchant 2',
  'site of merchant 2 live',
] as const;
export type HostedCaller = (typeof HOSTED_COLUMNS)[number];

/** Finds the column of a caller with these headers and this key. Undefined if the caller must be refused. */
export function findHostedCaller(siteHeaders: SiteHeaders, key: HostedKey): HostedCaller | undefined {
  const site = SITES.find((name) => name === siteHeaders);
  if (!site) return undefined;
  if (key === 'none') return site === 'open site' ? 'open site, no key' : undefined;
  const owner = site === 'site of merchant 2' ? 'merchant 2' : 'merchant 1';
  const acceptedKeys: readonly string[] = [site, `${site} live`, owner, `${owner} live`];
  if (!acceptedKeys.includes(key)) return undefined;
  return key.endsWith(' live') ? `${site} live` : site;
}

export interface PaidSession {
  readonly sessionId: string;
  readonly code: string;
  readonly paymentReference: string;
  readonly requestId: string;
}

export interface PaidInvoice {
  readonly reference: string;
  /** The 20 digits of the invoice's code. */
  readonly code: string;
  readonly paymentReference: string;
}

/** Creates two merchants with their sites and keys, and sends their requests to the hosted gateway. */
export class TwoMerchants {
  readonly keys = new Map<HostedKey, string>();
  readonly siteIds = new Map<Site, { readonly merchantId: string; readonly siteId: string }>();

  private constructor(readonly api: MainApi) {}

  static async onboard(api: MainApi): Promise<TwoMerchants> {
    const merchants = new TwoMerchants(api);
    await api.relayAllEvents();
    const merchantId = await merchants.createMerchant('merchant 1', ['site 1', 'site 2', 'open site']);
    await merchants.createMerchant('merchant 2', ['site of merchant 2']);
    const { organisationId } = await api.administer('POST', '/organisations', { name: 'A' });
    const partner = await api.administer('POST', `/organisations/${organisationId}/keys`, { mode: 'test' });
    merchants.keys.set('a partner', partner['apiKey']!);
    merchants.keys.set('an unknown one', newApiKey('site', 'test'));
    merchants.keys.set('nonsense', 'nonsense');
    await merchants.waitUntilKeysAreAccepted();
    await merchants.revokeKey(merchantId);
    return merchants;
  }

  send(siteHeaders: SiteHeaders, key: HostedKey, request: ApiRequest): Promise<ApiResponse> {
    const apiKey = this.keys.get(key);
    return this.api.callHosted({
      ...request,
      headers: { ...this.newSiteHeaders(siteHeaders), ...(apiKey ? { 'x-api-key': apiKey } : {}), ...request.headers },
    });
  }

  /** Calls with valid credentials of this caller. */
  callAs(caller: HostedCaller, request: ApiRequest): Promise<ApiResponse> {
    const site = SITES.find((name) => caller.startsWith(name) && !caller.startsWith(`${name} of`))!;
    const owner: HostedKey = site === 'site of merchant 2' ? 'merchant 2' : 'merchant 1';
    const key = caller.endsWith('no key') ? 'none' : caller.endsWith(' live') ? (`${owner} live` as const) : owner;
    return this.send(site, key, request);
  }

  async createSession(caller: HostedCaller, requestId: string = randomUUID()): Promise<string> {
    const response = await this.callAs(caller, {
      method: 'POST',
      path: '/api/v3.1/sessions',
      body: newSessionRequest(requestId),
    });
    if (response.status !== 201) throw new Error(`${caller}: ${response.status} ${response.text}`);
    return (JSON.parse(response.text) as { sessionId: string }).sessionId;
  }

  async createPaidSession(caller: HostedCaller): Promise<PaidSession> {
    const requestId = randomUUID();
    const sessionId = await this.createSession(caller, requestId);
    const html = (await this.api.callHosted({ method: 'GET', path: `/pay?sessionId=${sessionId}` })).text;
    const body = { reference: randomUUID(), paymentNumber: 1, encryptedCard: await encryptForPage(html, sessionId, 1) };
    const paid = await this.api.callHosted({ method: 'POST', path: `/pay/${sessionId}/payments`, body });
    const redirectUrl = (JSON.parse(paid.text) as { redirectUrl?: string }).redirectUrl;
    if (redirectUrl === undefined) throw new Error(`Not paid: ${paid.status} ${paid.text}`);
    const paymentReference = new URL(redirectUrl).searchParams.get('paymentReference')!;
    return { sessionId, code: await this.api.findSessionCode(sessionId), paymentReference, requestId };
  }

  /** Creates an invoice of R 89.50, at a till of site 1. */
  async createInvoice(siteReference = 'TILL-1'): Promise<Omit<PaidInvoice, 'paymentReference'>> {
    const { merchantId, siteId } = this.siteIds.get('site 1')!;
    const body = { siteReference, currencyISOCode: 'ZAR', amount: 8_950, origin: 'Karoo POS' };
    const response = await this.api.call({
      method: 'POST',
      path: `/business/api/v1/merchants/${merchantId}/sites/${siteId}/invoices`,
      headers: { 'x-api-key': this.keys.get('site 1')! },
      body: { ...body, createdUTCDate: this.api.clock.nowISO() },
    });
    if (response.status !== 201) throw new Error(`No invoice: ${response.status} ${response.text}`);
    const { reference, code } = JSON.parse(response.text) as { reference: string; code: string };
    await this.api.relayAllEvents();
    return { reference, code: code.slice(-20) };
  }

  /** Creates an invoice of R 89.50 at a till of site 1, and pays it on the page of its code. */
  async createPaidInvoice(tipAmount = 0): Promise<PaidInvoice> {
    const invoice = await this.createInvoice();
    const path = `/c/${invoice.code}`;
    const html = (await this.api.callHosted({ method: 'GET', path })).text;
    const reference = randomUUID();
    const body = {
      reference,
      paymentNumber: 1,
      encryptedCard: await encryptForPage(html, invoice.reference, 1),
      tipAmount,
    };
    const paid = await this.api.callHosted({ method: 'POST', path: `${path}/payments`, body });
    if (paid.status !== 200) throw new Error(`Not paid: ${paid.status} ${paid.text}`);
    const headers = { cookie: `svc-payment=${reference}` };
    const receipt = (await this.api.callHosted({ method: 'GET', path, headers })).text;
    const paymentReference = /<bdi>([0-9A-Z]{18})<\/bdi>/.exec(receipt)?.[1];
    if (paymentReference === undefined) throw new Error('No receipt.');
    return { ...invoice, paymentReference };
  }

  private newSiteHeaders(siteHeaders: SiteHeaders): Record<string, string> {
    if (siteHeaders === 'no headers') return {};
    const { merchantId, siteId } = this.siteIds.get(SITES.find((site) => site === siteHeaders) ?? 'site 1')!;
    const merchant2 = this.siteIds.get('site of merchant 2')!.merchantId;
    return {
      merchantid: siteHeaders === 'site 1 as of merchant 2' ? merchant2 : merchantId,
      merchantsiteid: siteHeaders === 'no site' ? '999999999' : siteId,
    };
  }

  private async createMerchant(name: 'merchant 1' | 'merchant 2', sites: readonly Site[]): Promise<string> {
    const { merchantId = '' } = await this.api.administer('POST', '/merchants', { name });
    const createKey = async (path: string, mode: Mode): Promise<string> =>
      (await this.api.administer('POST', `/merchants/${merchantId}${path}/keys`, { mode }))['apiKey']!;
    this.keys.set(name, await createKey('', 'test'));
    this.keys.set(`${name} live`, await createKey('', 'live'));
    for (const site of sites) {
      const keyless = site === 'open site' ? { requireApiKey: false, allowedHosts: ['shop.example'] } : {};
      const body = { name: site, siteReference: site, ...keyless };
      const { siteId = '' } = await this.api.administer('POST', `/merchants/${merchantId}/sites`, body);
      this.siteIds.set(site, { merchantId: String(merchantId), siteId: String(siteId) });
      this.keys.set(site, await createKey(`/sites/${siteId}`, 'test'));
      // The gateway creates a live session only if the site has a live key to sign its notifications with.
      const live = await createKey(`/sites/${siteId}`, 'live');
      if (site === 'site 1' || site === 'site 2') this.keys.set(`${site} live`, live);
      if (site === 'site 1') this.keys.set('site 1 revoked', await createKey(`/sites/${siteId}`, 'test'));
    }
    return merchantId;
  }

  private async waitUntilKeysAreAccepted(): Promise<void> {
    const isAccepted = async (siteHeaders: SiteHeaders, key: HostedKey): Promise<boolean> =>
      (await this.send(siteHeaders, key, { method: 'GET', path: '/api/v3.1/payments?sessionId=x' })).status !== 401;
    await waitUntil('the hosted gateway to accept every key', 20_000, async () => {
      await this.api.relayAllEvents();
      for (const siteHeaders of SITE_HEADERS)
        for (const key of HOSTED_KEYS)
          if (findHostedCaller(siteHeaders, key) && !(await isAccepted(siteHeaders, key))) return false;
      return isAccepted('site 1', 'site 1 revoked');
    });
  }

  private async revokeKey(merchantId: string): Promise<void> {
    const path = `/merchants/${merchantId}/sites/${this.siteIds.get('site 1')!.siteId}/keys`;
    const { keys } = (await this.api.administer('GET', path)) as unknown as { keys: { keyId: string; mode: string }[] };
    // The list begins with the newest key, which is the key to revoke.
    const { keyId } = keys.find(({ mode }) => mode === 'test')!;
    await this.api.administer('DELETE', `${path}/${keyId}`);
    await this.api.relayAllEvents();
    // The gateway caches a key for a second.
    this.api.clock.advance(1_000);
  }
}

export function newSessionRequest(requestId: string = randomUUID()): Record<string, unknown> {
  return {
    requestId,
    merchantOrderId: 'order-17',
    amount: 12_345,
    currencyISOCode: 'ZAR',
    notificationUrl: 'https://shop.example/hook',
    returnUrl: 'https://shop.example/return',
    cancelUrl: 'https://shop.example/cart',
    origin: 'shop.example',
  };
}

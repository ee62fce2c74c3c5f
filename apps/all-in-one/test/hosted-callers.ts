import { randomUUID } from 'node:crypto';
import { newApiKey } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { encrypt } from './bank-and-platform.js';
import type { Answer, Call, MainApi } from './main-api.js';

/** Merchant 1 has three sites, one of which accepts calls without a key; merchant 2 has one site. */
export const SITES = ['site 1', 'site 2', 'open site', 'site of merchant 2'] as const;
export type Site = (typeof SITES)[number];

/** Pairs of merchant and site numbers that a caller sends; the last three are not valid. */
export const CLAIMS = [...SITES, 'site 1 as of merchant 2', 'no site', 'no headers'] as const;
export type Claim = (typeof CLAIMS)[number];

/** Values of `x-api-key`. */
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

/** A site in one mode: an authenticated caller is one of these, with any of its keys. */
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

/** The column of a caller with these numbers and this key; undefined if it is refused. */
export function hostedCallerOf(claim: Claim, key: HostedKey): HostedCaller | undefined {
  const site = SITES.find((one) => one === claim);
  if (!site) return undefined;
  if (key === 'none') return site === 'open site' ? 'open site, no key' : undefined;
  const owner = site === 'site of merchant 2' ? 'merchant 2' : 'merchant 1';
  const opens: readonly string[] = [site, `${site} live`, owner, `${owner} live`];
  if (!opens.includes(key)) return undefined;
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
  /** Its 20 digits. */
  readonly code: string;
  readonly paymentReference: string;
}

/** Two on-boarded merchants, and their requests to the hosted gateway. */
export class TwoMerchants {
  readonly keys = new Map<HostedKey, string>();
  readonly numbers = new Map<Site, { readonly merchantId: string; readonly siteId: string }>();

  private constructor(readonly api: MainApi) {}

  static async onboard(api: MainApi): Promise<TwoMerchants> {
    const two = new TwoMerchants(api);
    await api.tellEverybody();
    const first = await two.newMerchant('merchant 1', ['site 1', 'site 2', 'open site']);
    await two.newMerchant('merchant 2', ['site of merchant 2']);
    const { organisationId } = await api.administer('POST', '/organisations', { name: 'A' });
    const partner = await api.administer('POST', `/organisations/${organisationId}/keys`, { mode: 'test' });
    two.keys.set('a partner', partner['apiKey']!);
    two.keys.set('an unknown one', newApiKey('site', 'test'));
    two.keys.set('nonsense', 'nonsense');
    await two.everybodyKnows();
    await two.revokeOne(first);
    return two;
  }

  ask(claim: Claim, key: HostedKey, call: Call): Promise<Answer> {
    const apiKey = this.keys.get(key);
    return this.api.callHosted({
      ...call,
      headers: { ...this.headersOf(claim), ...(apiKey ? { 'x-api-key': apiKey } : {}), ...call.headers },
    });
  }

  /** Calls as this caller, with any of its valid credentials. */
  as(caller: HostedCaller, call: Call): Promise<Answer> {
    const site = SITES.find((one) => caller.startsWith(one) && !caller.startsWith(`${one} of`))!;
    const owner: HostedKey = site === 'site of merchant 2' ? 'merchant 2' : 'merchant 1';
    const key = caller.endsWith('no key') ? 'none' : caller.endsWith(' live') ? (`${owner} live` as const) : owner;
    return this.ask(site, key, call);
  }

  async newSession(caller: HostedCaller, requestId: string = randomUUID()): Promise<string> {
    const answer = await this.as(caller, { method: 'POST', path: '/api/v3.1/sessions', body: aSession(requestId) });
    if (answer.status !== 201) throw new Error(`${caller}: ${answer.status} ${answer.text}`);
    return (JSON.parse(answer.text) as { sessionId: string }).sessionId;
  }

  async newPaidSession(caller: HostedCaller): Promise<PaidSession> {
    const requestId = randomUUID();
    const sessionId = await this.newSession(caller, requestId);
    const html = (await this.api.callHosted({ method: 'GET', path: `/pay?sessionId=${sessionId}` })).text;
    const body = { reference: randomUUID(), try: 1, encryptedCard: await encrypt(html, sessionId, 1) };
    const paid = await this.api.callHosted({ method: 'POST', path: `/pay/${sessionId}/payments`, body });
    const redirectUrl = (JSON.parse(paid.text) as { redirectUrl?: string }).redirectUrl;
    if (redirectUrl === undefined) throw new Error(`Not paid: ${paid.status} ${paid.text}`);
    const paymentReference = new URL(redirectUrl).searchParams.get('paymentReference')!;
    return { sessionId, code: await this.api.codeOf(sessionId), paymentReference, requestId };
  }

  /** Creates an invoice of R 89.50, at a till of site 1. */
  async newInvoice(siteReference = 'TILL-1'): Promise<Omit<PaidInvoice, 'paymentReference'>> {
    const { merchantId, siteId } = this.numbers.get('site 1')!;
    const body = { siteReference, currencyISOCode: 'ZAR', amount: 8_950, origin: 'Karoo POS' };
    const answer = await this.api.call({
      method: 'POST',
      path: `/business/api/v1/merchants/${merchantId}/sites/${siteId}/invoices`,
      headers: { 'x-api-key': this.keys.get('site 1')! },
      body: { ...body, createdUTCDate: this.api.clock.nowISO() },
    });
    if (answer.status !== 201) throw new Error(`No invoice: ${answer.status} ${answer.text}`);
    const { reference, code } = JSON.parse(answer.text) as { reference: string; code: string };
    await this.api.tellEverybody();
    return { reference, code: code.slice(-20) };
  }

  /** Creates the same invoice and pays it on the page of its code. */
  async newPaidInvoice(tipAmount = 0): Promise<PaidInvoice> {
    const invoice = await this.newInvoice();
    const path = `/c/${invoice.code}`;
    const html = (await this.api.callHosted({ method: 'GET', path })).text;
    const reference = randomUUID();
    const body = { reference, try: 1, encryptedCard: await encrypt(html, invoice.reference, 1), tipAmount };
    const paid = await this.api.callHosted({ method: 'POST', path: `${path}/payments`, body });
    if (paid.status !== 200) throw new Error(`Not paid: ${paid.status} ${paid.text}`);
    const headers = { cookie: `svc-payment=${reference}` };
    const receipt = (await this.api.callHosted({ method: 'GET', path, headers })).text;
    const paymentReference = /<bdi>([0-9A-Z]{18})<\/bdi>/.exec(receipt)?.[1];
    if (paymentReference === undefined) throw new Error('No receipt.');
    return { ...invoice, paymentReference };
  }

  private headersOf(claim: Claim): Record<string, string> {
    if (claim === 'no headers') return {};
    const { merchantId, siteId } = this.numbers.get(SITES.find((site) => site === claim) ?? 'site 1')!;
    const other = this.numbers.get('site of merchant 2')!.merchantId;
    return {
      merchantid: claim === 'site 1 as of merchant 2' ? other : merchantId,
      merchantsiteid: claim === 'no site' ? '999999999' : siteId,
    };
  }

  private async newMerchant(name: 'merchant 1' | 'merchant 2', sites: readonly Site[]): Promise<string> {
    const { merchantId = '' } = await this.api.administer('POST', '/merchants', { name });
    const keyOf = async (path: string, mode: Mode): Promise<string> =>
      (await this.api.administer('POST', `/merchants/${merchantId}${path}/keys`, { mode }))['apiKey']!;
    this.keys.set(name, await keyOf('', 'test'));
    this.keys.set(`${name} live`, await keyOf('', 'live'));
    for (const site of sites) {
      const keyless = site === 'open site' ? { requireApiKey: false, allowedHosts: ['shop.example'] } : {};
      const body = { name: site, siteReference: site, ...keyless };
      const { siteId = '' } = await this.api.administer('POST', `/merchants/${merchantId}/sites`, body);
      this.numbers.set(site, { merchantId: String(merchantId), siteId: String(siteId) });
      this.keys.set(site, await keyOf(`/sites/${siteId}`, 'test'));
      // The live webhook secret of every site.
      const live = await keyOf(`/sites/${siteId}`, 'live');
      if (site === 'site 1' || site === 'site 2') this.keys.set(`${site} live`, live);
      if (site === 'site 1') this.keys.set('site 1 revoked', await keyOf(`/sites/${siteId}`, 'test'));
    }
    return merchantId;
  }

  private async everybodyKnows(): Promise<void> {
    const isLetIn = async (claim: Claim, key: HostedKey): Promise<boolean> =>
      (await this.ask(claim, key, { method: 'GET', path: '/api/v3.1/payments?sessionId=x' })).status !== 401;
    await waitUntil('the hosted gateway to know every key', 20_000, async () => {
      await this.api.tellEverybody();
      for (const claim of CLAIMS)
        for (const key of HOSTED_KEYS) if (hostedCallerOf(claim, key) && !(await isLetIn(claim, key))) return false;
      return isLetIn('site 1', 'site 1 revoked');
    });
  }

  private async revokeOne(merchantId: string): Promise<void> {
    const path = `/merchants/${merchantId}/sites/${this.numbers.get('site 1')!.siteId}/keys`;
    const { keys } = (await this.api.administer('GET', path)) as unknown as { keys: { keyId: string; mode: string }[] };
    // The newest key of its mode is the one just created.
    const { keyId } = keys.find(({ mode }) => mode === 'test')!;
    await this.api.administer('DELETE', `${path}/${keyId}`);
    await this.api.tellEverybody();
    this.api.clock.advance(1_000);
  }
}

export function aSession(requestId: string = randomUUID()): Record<string, unknown> {
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

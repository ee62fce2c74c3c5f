import { randomUUID } from 'node:crypto';
import { newApiKey } from '@svc/auth';
import { waitUntil } from '@svc/testing';
import type { ApiRequest, ApiResponse, MainApi } from './main-api.js';

/**
 * Names of the values of `x-api-key` that the tests send. A and B are organisations. Merchant 1 and merchant 2 are
 * merchants. Site 1 and site 2 belong to merchant 1.
 */
export const KEYS = [
  'none',
  'A',
  'B',
  'A live',
  'A revoked',
  'an unknown one',
  'merchant 1',
  'site 1',
  'site 2',
  'merchant 2',
  'merchant 1 live',
] as const;
export type Key = (typeof KEYS)[number];

/** Names of the bearer tokens: `A` is a token of the server of organisation A, `A’s 1` of the first customer of A. */
export const TOKENS = [
  'none',
  'A',
  'A’s 1',
  'A’s 2',
  'B',
  'B’s 1',
  'B’s 2',
  'A live',
  'A expired',
  'A altered',
] as const;
export type Token = (typeof TOKENS)[number];

/** Callers of the main API: partners and their customers. */
export const PARTNERS = ['A', 'A’s 1', 'A’s 2', 'B', 'B’s 1', 'B’s 2', 'A live'] as const satisfies readonly Token[];
export type Partner = (typeof PARTNERS)[number];
export const CUSTOMERS = ['A’s 1', 'A’s 2', 'B’s 1', 'B’s 2'] as const satisfies readonly Partner[];
export type Customer = (typeof CUSTOMERS)[number];
export const SERVERS = ['A', 'B', 'A live'] as const satisfies readonly (Key & Token)[];
export type Server = (typeof SERVERS)[number];
export const MERCHANTS = [
  'merchant 1',
  'site 1',
  'site 2',
  'merchant 2',
  'merchant 1 live',
] as const satisfies readonly Key[];

const TOKEN_LIFETIME_MS = 15 * 60_000;

export interface RegisteredCustomer {
  readonly userId: string;
  readonly email: string;
  readonly customerReference: string;
}

export interface Invoice {
  readonly reference: string;
  readonly externalReference: string;
  readonly code: string;
  /** Cents. */
  readonly amount: number;
}

/** Creates two organisations with two customers each and two merchants, and sends requests with their credentials. */
export class TwoPartners {
  readonly keys = new Map<Key, string>();
  readonly tokens = new Map<Token, string>();
  /** Credentials with which each server logs in. */
  readonly logins = new Map<Server, { readonly organisationId: string; readonly apiToken: string }>();
  readonly customers = new Map<Customer, RegisteredCustomer>();
  readonly password = 'correct horse battery';
  /** `/business/api/v1/merchants/…/sites/…` of site 1. */
  sitePath = '';

  private constructor(readonly api: MainApi) {}

  static async onboard(api: MainApi): Promise<TwoPartners> {
    const partners = new TwoPartners(api);
    await api.relayAllEvents();
    await partners.createPartners();
    await partners.createMerchants();
    await partners.waitUntilKeysAreAccepted();
    // The expired token and the revoked key must have been valid before.
    partners.tokens.set('A expired', await partners.logIn('A'));
    expectStatus(
      200,
      await partners.send('A revoked', 'A expired', { method: 'GET', path: '/v1/cards/encryption-key' }),
    );
    await partners.revokeKey();
    api.clock.advance(TOKEN_LIFETIME_MS);
    for (const server of SERVERS) partners.tokens.set(server, await partners.logIn(server));
    const [head, body, signature] = partners.tokens.get('A')!.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const altered = Buffer.from(JSON.stringify({ ...claims, sub: randomUUID() })).toString('base64url');
    partners.tokens.set('A altered', [head, altered, signature].join('.'));
    for (const customer of CUSTOMERS) await partners.registerCustomer(customer);
    return partners;
  }

  send(key: Key, token: Token, request: ApiRequest): Promise<ApiResponse> {
    const [apiKey, identityToken] = [this.keys.get(key), this.tokens.get(token)];
    return this.api.call({
      ...request,
      headers: {
        ...(apiKey ? { 'x-api-key': apiKey } : {}),
        ...(identityToken ? { authorization: `Bearer ${identityToken}` } : {}),
        ...request.headers,
      },
    });
  }

  /** Calls with the valid credentials of a partner. @throws Error if the call is refused */
  async callAs<T>(partner: Partner, request: ApiRequest): Promise<T> {
    const response = await this.send(findServerOf(partner), partner, request);
    if (response.status >= 300)
      throw new Error(`${partner}: ${request.method} ${request.path}: ${response.status} ${response.text}`);
    return JSON.parse(response.text) as T;
  }

  /** Creates an invoice of site 1. */
  async createInvoice(mode: 'test' | 'live' = 'test', siteReference = 'TILL-1'): Promise<Invoice> {
    const [externalReference, amount] = [randomUUID(), 8_950];
    const body = { externalReference, siteReference, currencyISOCode: 'ZAR', amount, origin: 'Karoo POS' };
    const response = await this.send(mode === 'live' ? 'merchant 1 live' : 'merchant 1', 'none', {
      method: 'POST',
      path: `${this.sitePath}/invoices`,
      body: { ...body, createdUTCDate: this.api.clock.nowISO() },
    });
    expectStatus(201, response);
    const { reference, code } = JSON.parse(response.text) as { reference: string; code: string };
    return { reference, externalReference, code, amount };
  }

  async storeCard(owner: Partner): Promise<string> {
    const { token } = await this.callAs<{ token: string }>(owner, {
      method: 'POST',
      path: '/v1/cards',
      body: newCardData(),
    });
    return token;
  }

  private async createPartners(): Promise<void> {
    for (const name of ['A', 'B'] as const) {
      const { organisationId = '' } = await this.api.administer('POST', '/organisations', { name });
      for (const mode of name === 'A' ? (['test', 'live'] as const) : (['test'] as const)) {
        const server: Server = mode === 'live' ? 'A live' : name;
        const createCredential = (collection: 'keys' | 'api-tokens') =>
          this.api.administer('POST', `/organisations/${organisationId}/${collection}`, { mode });
        this.keys.set(server, (await createCredential('keys'))['apiKey']!);
        this.logins.set(server, { organisationId, apiToken: (await createCredential('api-tokens'))['apiToken']! });
      }
    }
    this.keys.set('an unknown one', newApiKey('partner', 'test'));
    const { apiKey } = await this.api.administer('POST', `${this.organisationPath('A')}/keys`, { mode: 'test' });
    this.keys.set('A revoked', apiKey!);
  }

  private async createMerchants(): Promise<void> {
    const administer: MainApi['administer'] = (...args) => this.api.administer(...args);
    const grants = [{ organisationId: this.logins.get('A')!.organisationId, vouchers: true, externalPayments: true }];
    for (const name of ['merchant 1', 'merchant 2'] as const) {
      const { merchantId } = await administer('POST', '/merchants', { name });
      this.keys.set(name, (await administer('POST', `/merchants/${merchantId}/keys`, { mode: 'test' }))['apiKey']!);
      if (name === 'merchant 2') return;
      await administer('PATCH', `/merchants/${merchantId}`, { grants });
      const live = await administer('POST', `/merchants/${merchantId}/keys`, { mode: 'live' });
      this.keys.set('merchant 1 live', live['apiKey']!);
      for (const site of ['site 1', 'site 2'] as const) {
        const { siteId } = await administer('POST', `/merchants/${merchantId}/sites`, {
          name: site,
          siteReference: site,
        });
        const { apiKey } = await administer('POST', `/merchants/${merchantId}/sites/${siteId}/keys`, { mode: 'test' });
        this.keys.set(site, apiKey!);
        if (site === 'site 1') this.sitePath = `/business/api/v1/merchants/${merchantId}/sites/${siteId}`;
      }
    }
  }

  private async waitUntilKeysAreAccepted(): Promise<void> {
    await waitUntil('all services to accept all keys and tokens', 20_000, async () => {
      await this.api.relayAllEvents();
      for (const server of SERVERS) {
        const token = await this.logIn(server);
        for (const path of ['/v1/payments', '/v1/codes/eA', '/v1/cards/encryption-key']) {
          const headers = { 'x-api-key': this.keys.get(server)!, authorization: `Bearer ${token}` };
          if ((await this.api.call({ method: 'GET', path, headers })).status === 401) return false;
        }
      }
      for (const key of ['merchant 1', 'site 1', 'site 2', 'merchant 1 live'] as const) {
        const { status } = await this.send(key, 'none', { method: 'GET', path: `${this.sitePath}/invoices/x` });
        if (status !== (key === 'site 2' ? 403 : 404)) return false;
      }
      const { status } = await this.send('merchant 2', 'none', { method: 'GET', path: `${this.sitePath}/invoices/x` });
      return status === 403;
    });
  }

  private async revokeKey(): Promise<void> {
    const { keys } = (await this.api.administer('GET', `${this.organisationPath('A')}/keys`)) as unknown as {
      keys: { keyId: string; mode: string }[];
    };
    // The list begins with the newest key, which is the key to revoke.
    const { keyId } = keys.find(({ mode }) => mode === 'test')!;
    await this.api.administer('DELETE', `${this.organisationPath('A')}/keys/${keyId}`);
    await this.api.relayAllEvents();
  }

  private async logIn(server: Server): Promise<string> {
    const headers = { 'x-api-key': this.keys.get(server)! };
    const body = this.logins.get(server)!;
    const response = await this.api.call({ method: 'POST', path: '/v1/auth/service/login', headers, body });
    expectStatus(200, response);
    return (JSON.parse(response.text) as { identityToken: string }).identityToken;
  }

  private async registerCustomer(customer: Customer): Promise<void> {
    const server = findServerOf(customer);
    const post = <T>(path: string, body: object) => this.callAs<T>(server, { method: 'POST', path, body });
    const login = { email: `${customer.at(0)}${customer.at(-1)}@example.com`.toLowerCase(), password: this.password };
    const { userId } = await post<{ userId: string }>('/v1/auth/users', login);
    await post('/v1/auth/customers/register', { userId });
    const { identityToken, customer: registered } = await post<{ identityToken: string; customer: { id: string } }>(
      '/v1/auth/customers/login',
      login,
    );
    this.tokens.set(customer, identityToken);
    this.customers.set(customer, { userId, email: login.email, customerReference: registered.id });
  }

  private organisationPath(server: Server): string {
    return `/organisations/${this.logins.get(server)!.organisationId}`;
  }
}

/** Finds the server whose key a partner or customer uses. */
export function findServerOf(partner: Partner): Server {
  return (SERVERS as readonly Partner[]).includes(partner) ? (partner as Server) : partner.startsWith('A') ? 'A' : 'B';
}

/** Data of an unencrypted card, as a partner sends them over TLS. */
export function newCardData(): Record<string, unknown> {
  return { cardNumber: '4242424242424242', cvv: '123', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
}

function expectStatus(status: number, response: ApiResponse): void {
  if (response.status !== status) throw new Error(`${response.status}, not ${status}: ${response.text}`);
}

import { randomUUID } from 'node:crypto';
import { newApiKey } from '@svc/auth';
import { waitUntil } from '@svc/testing';
import type { Answer, Call, MainApi } from './main-api.js';

/** Values of `x-api-key`. A and B are two organisations, 1 and 2 two merchants; site 1 and site 2 belong to merchant 1. */
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

/** Bearer tokens of the organisations’ servers and of their customers. */
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

export interface KnownCustomer {
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

/** Two on-boarded organisations with two customers each, and their requests. */
export class TwoPartners {
  readonly keys = new Map<Key, string>();
  readonly tokens = new Map<Token, string>();
  /** Login credentials of each server. */
  readonly logins = new Map<Server, { readonly organisationId: string; readonly apiToken: string }>();
  readonly customers = new Map<Customer, KnownCustomer>();
  readonly password = 'correct horse battery';
  /** `/business/api/v1/merchants/…/sites/…` of site 1. */
  sitePath = '';

  private constructor(readonly api: MainApi) {}

  static async onboard(api: MainApi): Promise<TwoPartners> {
    const two = new TwoPartners(api);
    await api.tellEverybody();
    await two.makePartners();
    await two.makeMerchants();
    await two.everybodyKnows();
    // Expired and revoked credentials were valid before.
    two.tokens.set('A expired', await two.logIn('A'));
    expectStatus(200, await two.ask('A revoked', 'A expired', { method: 'GET', path: '/v1/cards/encryption-key' }));
    await two.revoke();
    api.clock.advance(900_000);
    for (const server of SERVERS) two.tokens.set(server, await two.logIn(server));
    const [head, body, signature] = two.tokens.get('A')!.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const altered = Buffer.from(JSON.stringify({ ...claims, sub: randomUUID() })).toString('base64url');
    two.tokens.set('A altered', [head, altered, signature].join('.'));
    for (const customer of CUSTOMERS) await two.register(customer);
    return two;
  }

  ask(key: Key, token: Token, call: Call): Promise<Answer> {
    const [apiKey, identityToken] = [this.keys.get(key), this.tokens.get(token)];
    return this.api.call({
      ...call,
      headers: {
        ...(apiKey ? { 'x-api-key': apiKey } : {}),
        ...(identityToken ? { authorization: `Bearer ${identityToken}` } : {}),
        ...call.headers,
      },
    });
  }

  /** Calls with valid credentials. Throws if the call is refused. */
  async as<T>(partner: Partner, call: Call): Promise<T> {
    const answer = await this.ask(serverOf(partner), partner, call);
    if (answer.status >= 300)
      throw new Error(`${partner}: ${call.method} ${call.path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as T;
  }

  /** Creates an invoice of site 1. */
  async newInvoice(mode: 'test' | 'live' = 'test', siteReference = 'TILL-1'): Promise<Invoice> {
    const [externalReference, amount] = [randomUUID(), 8_950];
    const body = { externalReference, siteReference, currencyISOCode: 'ZAR', amount, origin: 'Karoo POS' };
    const answer = await this.ask(mode === 'live' ? 'merchant 1 live' : 'merchant 1', 'none', {
      method: 'POST',
      path: `${this.sitePath}/invoices`,
      body: { ...body, createdUTCDate: this.api.clock.nowISO() },
    });
    expectStatus(201, answer);
    const { reference, code } = JSON.parse(answer.text) as { reference: string; code: string };
    return { reference, externalReference, code, amount };
  }

  async newCard(owner: Partner): Promise<string> {
    const { token } = await this.as<{ token: string }>(owner, { method: 'POST', path: '/v1/cards', body: aCard() });
    return token;
  }

  private async makePartners(): Promise<void> {
    for (const name of ['A', 'B'] as const) {
      const { organisationId = '' } = await this.api.administer('POST', '/organisations', { name });
      for (const mode of name === 'A' ? (['test', 'live'] as const) : (['test'] as const)) {
        const server: Server = mode === 'live' ? 'A live' : name;
        const make = (what: string) =>
          this.api.administer('POST', `/organisations/${organisationId}/${what}`, { mode });
        this.keys.set(server, (await make('keys'))['apiKey']!);
        this.logins.set(server, { organisationId, apiToken: (await make('api-tokens'))['apiToken']! });
      }
    }
    this.keys.set('an unknown one', newApiKey('partner', 'test'));
    const { apiKey } = await this.api.administer('POST', `${this.organisation('A')}/keys`, { mode: 'test' });
    this.keys.set('A revoked', apiKey!);
  }

  private async makeMerchants(): Promise<void> {
    const admin: MainApi['administer'] = (...change) => this.api.administer(...change);
    const grants = [{ organisationId: this.logins.get('A')!.organisationId, vouchers: true, externalPayments: true }];
    for (const name of ['merchant 1', 'merchant 2'] as const) {
      const { merchantId } = await admin('POST', '/merchants', { name });
      this.keys.set(name, (await admin('POST', `/merchants/${merchantId}/keys`, { mode: 'test' }))['apiKey']!);
      if (name === 'merchant 2') return;
      await admin('PATCH', `/merchants/${merchantId}`, { grants });
      const live = await admin('POST', `/merchants/${merchantId}/keys`, { mode: 'live' });
      this.keys.set('merchant 1 live', live['apiKey']!);
      for (const site of ['site 1', 'site 2'] as const) {
        const { siteId } = await admin('POST', `/merchants/${merchantId}/sites`, { name: site, siteReference: site });
        const { apiKey } = await admin('POST', `/merchants/${merchantId}/sites/${siteId}/keys`, { mode: 'test' });
        this.keys.set(site, apiKey!);
        if (site === 'site 1') this.sitePath = `/business/api/v1/merchants/${merchantId}/sites/${siteId}`;
      }
    }
  }

  private async everybodyKnows(): Promise<void> {
    await waitUntil('everybody to know everybody', 20_000, async () => {
      await this.api.tellEverybody();
      for (const server of SERVERS) {
        const token = await this.logIn(server);
        for (const path of ['/v1/payments', '/v1/codes/eA', '/v1/cards/encryption-key']) {
          const headers = { 'x-api-key': this.keys.get(server)!, authorization: `Bearer ${token}` };
          if ((await this.api.call({ method: 'GET', path, headers })).status === 401) return false;
        }
      }
      for (const key of ['merchant 1', 'site 1', 'site 2', 'merchant 1 live'] as const) {
        const { status } = await this.ask(key, 'none', { method: 'GET', path: `${this.sitePath}/invoices/x` });
        if (status !== (key === 'site 2' ? 403 : 404)) return false;
      }
      const { status } = await this.ask('merchant 2', 'none', { method: 'GET', path: `${this.sitePath}/invoices/x` });
      return status === 403;
    });
  }

  private async revoke(): Promise<void> {
    const { keys } = (await this.api.administer('GET', `${this.organisation('A')}/keys`)) as unknown as {
      keys: { keyId: string; mode: string }[];
    };
    // The newest key of its mode is the one just created.
    const { keyId } = keys.find(({ mode }) => mode === 'test')!;
    await this.api.administer('DELETE', `${this.organisation('A')}/keys/${keyId}`);
    await this.api.tellEverybody();
  }

  private async logIn(server: Server): Promise<string> {
    const headers = { 'x-api-key': this.keys.get(server)! };
    const body = this.logins.get(server)!;
    const answer = await this.api.call({ method: 'POST', path: '/v1/auth/service/login', headers, body });
    expectStatus(200, answer);
    return (JSON.parse(answer.text) as { identityToken: string }).identityToken;
  }

  private async register(customer: Customer): Promise<void> {
    const server = serverOf(customer);
    const post = <T>(path: string, body: object) => this.as<T>(server, { method: 'POST', path, body });
    const login = { email: `${customer.at(0)}${customer.at(-1)}@example.com`.toLowerCase(), password: this.password };
    const { userId } = await post<{ userId: string }>('/v1/auth/users', login);
    await post('/v1/auth/customers/register', { userId });
    const { identityToken, customer: known } = await post<{ identityToken: string; customer: { id: string } }>(
      '/v1/auth/customers/login',
      login,
    );
    this.tokens.set(customer, identityToken);
    this.customers.set(customer, { userId, email: login.email, customerReference: known.id });
  }

  private organisation(server: Server): string {
    return `/organisations/${this.logins.get(server)!.organisationId}`;
  }
}

/** The server whose key a partner or customer uses. */
export function serverOf(partner: Partner): Server {
  return (SERVERS as readonly Partner[]).includes(partner) ? (partner as Server) : partner.startsWith('A') ? 'A' : 'B';
}

/** An unencrypted card, as a partner sends it over TLS. */
export function aCard(): Record<string, unknown> {
  return { cardNumber: '4242424242424242', cvv: '123', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
}

function expectStatus(status: number, answer: Answer): void {
  if (answer.status !== status) throw new Error(`${answer.status}, not ${status}: ${answer.text}`);
}

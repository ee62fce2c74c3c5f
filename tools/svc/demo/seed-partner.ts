/**
 * The partner and its customers that exist after the first start. The partner is made through the administration
 * API, its customers as a partner makes them: through the main API, with its own key and token.
 */
import { randomBytes } from 'node:crypto';
import type { PartnerAdministrationApi } from './administration-api.ts';
import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';

export interface DemoPartner {
  readonly organisationId: string;
  readonly name: string;
  /** `x-api-key` of the main API. */
  readonly apiKey: string;
  /** For `POST /v1/auth/service/login`. */
  readonly apiToken: string;
}

export interface DemoCustomer {
  readonly userId: string;
  readonly customerReference: string;
  readonly email: string;
  readonly password: string;
  readonly firstName: string;
  readonly lastName: string;
}

export const DEMO_PARTNER = 'Blue Wallet';
export const DEMO_CUSTOMERS = [
  { email: 'thandi@blue-wallet.example', firstName: 'Thandi', lastName: 'Nkosi' },
  { email: 'pieter@blue-wallet.example', firstName: 'Pieter', lastName: 'van Wyk' },
] as const;

/** The main API as seeding needs it. */
export interface PartnerApi {
  /** Throws SvcError with the status that was answered. */
  post(path: string, headers: Readonly<Record<string, string>>, body: object): Promise<unknown>;
}

/** Their part of demo.json. */
export interface KnownPartner {
  readonly partner?: DemoPartner;
  readonly customers?: readonly DemoCustomer[];
}

/**
 * Makes what is missing. Keys and passwords are known to the file alone; where it was lost, the partner gets new keys, and
 * customers that can no longer log in get a new account each, under an address that tells it apart.
 */
export async function seedPartner(
  admin: PartnerAdministrationApi,
  main: PartnerApi,
  known: KnownPartner,
): Promise<{ partner: DemoPartner; customers: DemoCustomer[] }> {
  const found = (await admin.listOrganisations()).find(({ name }) => name === DEMO_PARTNER);
  const { organisationId, name } = found ?? (await admin.createOrganisation(DEMO_PARTNER));
  const before = found && known.partner?.organisationId === organisationId ? known : {};
  if (before.partner && before.customers?.length === DEMO_CUSTOMERS.length)
    return { partner: before.partner, customers: [...before.customers] };

  const { apiKey } = before.partner ?? (await admin.replacePartnerKey(organisationId));
  const { apiToken } = before.partner ?? (await admin.replaceApiToken(organisationId));
  const partner: DemoPartner = { organisationId, name, apiKey, apiToken };
  const login = (await main.post('/v1/auth/service/login', { 'x-api-key': apiKey }, { organisationId, apiToken })) as {
    identityToken: string;
  };
  const headers = { 'x-api-key': apiKey, authorization: `Bearer ${login.identityToken}` };
  const customers: DemoCustomer[] = [];
  for (const wanted of DEMO_CUSTOMERS) customers.push(await seedCustomer(main, headers, wanted, found !== undefined));
  return { partner, customers };
}

async function seedCustomer(
  main: PartnerApi,
  headers: Readonly<Record<string, string>>,
  wanted: (typeof DEMO_CUSTOMERS)[number],
  mayExist: boolean,
): Promise<DemoCustomer> {
  const password = randomBytes(12).toString('base64url');
  // Whether the first address is taken cannot be seen without its password, so a second round begins with another one.
  const email = mayExist ? wanted.email.replace('@', `+${randomBytes(3).toString('hex')}@`) : wanted.email;
  const { userId } = (await main.post('/v1/auth/users', headers, { ...wanted, email, password })) as { userId: string };
  const answer = await main.post('/v1/auth/customers/register', headers, { userId });
  const { customerReference } = answer as { customerReference: string };
  return { ...wanted, userId, customerReference, email, password };
}

const REQUEST_MILLISECONDS = 10_000 * PATIENCE;

export function createPartnerApi(url: string): PartnerApi {
  return {
    post: async (path, headers, body) => {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
      });
      const text = await response.text();
      if (!response.ok)
        throw new SvcError(
          `the demo partner could not be made: ${path} answered ${response.status} ${text.slice(0, 300)}`,
        );
      return JSON.parse(text) as unknown;
    },
  };
}

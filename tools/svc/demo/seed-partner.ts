/**
 * Creates the demo's partner through the administration API. Creates its customers as a partner does: through the main
 * API, with the partner's key and token.
 */
import { randomBytes } from 'node:crypto';
import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';
import type { PartnerAdministrationApi } from './administration-api.ts';

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

/** The requests to the main API that seeding needs. */
export interface PartnerApi {
  /** @throws SvcError with the status of an error response */
  post(path: string, headers: Readonly<Record<string, string>>, body: object): Promise<unknown>;
}

/** The partner and customers in demo.json. */
interface StoredPartner {
  readonly partner?: DemoPartner;
  readonly customers?: readonly DemoCustomer[];
}

/**
 * Creates the partner and its customers unless they exist. Only demo.json contains the keys and passwords. If that file
 * was lost, this function creates new keys for the partner, and for each customer a new account with another e-mail
 * address.
 */
export async function seedPartner(
  admin: PartnerAdministrationApi,
  api: PartnerApi,
  stored: StoredPartner,
): Promise<{ partner: DemoPartner; customers: DemoCustomer[] }> {
  const found = (await admin.listOrganisations()).find(({ name }) => name === DEMO_PARTNER);
  const { organisationId, name } = found ?? (await admin.createOrganisation(DEMO_PARTNER));
  // demo.json may belong to another database.
  const known = found && stored.partner?.organisationId === organisationId ? stored : {};
  if (known.partner && known.customers?.length === DEMO_CUSTOMERS.length)
    return { partner: known.partner, customers: [...known.customers] };

  const { apiKey } = known.partner ?? (await admin.replacePartnerKey(organisationId));
  const { apiToken } = known.partner ?? (await admin.replaceApiToken(organisationId));
  const partner: DemoPartner = { organisationId, name, apiKey, apiToken };
  const login = (await api.post('/v1/auth/service/login', { 'x-api-key': apiKey }, { organisationId, apiToken })) as {
    identityToken: string;
  };
  const headers = { 'x-api-key': apiKey, authorization: `Bearer ${login.identityToken}` };
  const customers: DemoCustomer[] = [];
  for (const plan of DEMO_CUSTOMERS) customers.push(await seedCustomer(api, headers, plan, found !== undefined));
  return { partner, customers };
}

async function seedCustomer(
  api: PartnerApi,
  headers: Readonly<Record<string, string>>,
  plan: (typeof DEMO_CUSTOMERS)[number],
  mayExist: boolean,
): Promise<DemoCustomer> {
  const password = randomBytes(12).toString('base64url');
  // The API does not reveal whether an address is taken, so a second attempt uses another address.
  const email = mayExist ? plan.email.replace('@', `+${randomBytes(3).toString('hex')}@`) : plan.email;
  const { userId } = (await api.post('/v1/auth/users', headers, { ...plan, email, password })) as {
    userId: string;
  };
  const customer = await api.post('/v1/auth/customers/register', headers, { userId });
  const { customerReference } = customer as { customerReference: string };
  return { ...plan, userId, customerReference, email, password };
}

export function createPartnerApi(url: string): PartnerApi {
  return {
    post: async (path, headers, body) => {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000 * PATIENCE),
      });
      const text = await response.text();
      if (!response.ok)
        throw new SvcError(
          `the demo partner could not be created: ${path} answered ${response.status} ${text.slice(0, 300)}`,
        );
      return JSON.parse(text) as unknown;
    },
  };
}

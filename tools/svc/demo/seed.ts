/**
 * Creates the demo's merchants, partner and customers through the APIs, with keys of mode "test". Runs at every start of
 * the platform, but changes nothing while demo.json has the data of this database: the APIs return a key only once.
 */
import { randomBytes } from 'node:crypto';
import {
  type Administration,
  createAdministration,
  readList,
  readOperatorKey,
} from '../administration-api/administration.ts';
import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';

/** The content of demo.json. */
export interface Demo extends DemoData {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  readonly shopUrl: string;
  /** The pages of the merchants' people. */
  readonly consoleUrl: string;
  readonly adminUrl: string;
  /** The transformer of the demo's till, which serves the sites of the first merchant. */
  readonly transformerUrl: string;
  /** The header x-api-key for the transformer. */
  readonly transformerApiKey: string;
  /** PEM file of the self-signed certificate of the https addresses: for `curl --cacert` and NODE_EXTRA_CA_CERTS. */
  readonly certificateFile?: string;
  readonly adminKey: string;
}

interface DemoData {
  readonly merchants: readonly DemoMerchant[];
  /** Of {@link DEMO_ROASTERY}. */
  readonly roastery: DemoMerchant;
  readonly partner: DemoPartner;
  readonly customers: readonly DemoCustomer[];
}

export interface DemoMerchant {
  readonly merchantId: number;
  readonly name: string;
  readonly apiKey: string;
  readonly sites: readonly DemoSite[];
}

export interface DemoSite {
  readonly siteId: number;
  readonly siteReference: string;
  readonly apiKey: string;
  /** Signs the webhooks of this site: `whsec_` and base64 (E4). */
  readonly webhookSecret: string;
  readonly requireApiKey: boolean;
}

interface DemoPartner {
  readonly organisationId: string;
  readonly name: string;
  /** `x-api-key` of the main API. */
  readonly apiKey: string;
  /** For `POST /v1/auth/service/login`. */
  readonly apiToken: string;
}

interface DemoCustomer {
  readonly userId: string;
  readonly customerReference: string;
  readonly email: string;
  readonly password: string;
  readonly firstName: string;
  readonly lastName: string;
}

export interface MerchantPlan {
  readonly name: string;
  readonly sites: readonly {
    readonly name: string;
    readonly siteReference: string;
    readonly requireApiKey: boolean;
    readonly allowedHosts: readonly string[];
  }[];
}

const LOOPBACK = ['127.0.0.1', 'localhost'];

/** The second site of each merchant accepts requests without a key from this machine. */
export const DEMO_MERCHANTS: readonly MerchantPlan[] = [
  {
    name: 'Karoo Roastery',
    sites: [
      { name: 'Karoo Roastery Online', siteReference: 'KAROO-ONLINE', requireApiKey: true, allowedHosts: [] },
      {
        name: 'Karoo Roastery Market Stall',
        siteReference: 'KAROO-MARKET',
        requireApiKey: false,
        allowedHosts: LOOPBACK,
      },
    ],
  },
  {
    name: 'Kommetjie Surf & Wetsuit',
    sites: [
      { name: 'Kommetjie Surf Online', siteReference: 'SURF-ONLINE', requireApiKey: true, allowedHosts: [] },
      { name: 'Kommetjie Surf Beach Shop', siteReference: 'SURF-BEACH', requireApiKey: false, allowedHosts: LOOPBACK },
    ],
  },
];
const roasterySite = (name: string, siteReference: string) => ({
  name: `Karoo Coffee Roasters ${name}`,
  siteReference,
  requireApiKey: true,
  allowedHosts: [],
});
/** Has a week of trade when it is created (`week/trade-week.ts`), and the people of the console. */
export const DEMO_ROASTERY: MerchantPlan = {
  name: 'Karoo Coffee Roasters',
  sites: [
    roasterySite('Online', 'ROASTERS-ONLINE'),
    roasterySite('Observatory', 'ROASTERS-OBS'),
    roasterySite('Harbour', 'ROASTERS-HARBOUR'),
  ],
};

/** The owner of the roastery with a week of trade in the console. The person signs in with {@link createSignInLink}. */
export const DEMO_OWNER = 'owner@karoo-coffee.example';
/** The owner of the first merchant, whose keys the guides use. */
export const GUIDE_OWNER = 'owner@karoo-roastery.example';
export const DEMO_PARTNER = 'Blue Wallet';
export const DEMO_CUSTOMERS = [
  { email: 'thandi@blue-wallet.example', firstName: 'Thandi', lastName: 'Nkosi' },
  { email: 'pieter@blue-wallet.example', firstName: 'Pieter', lastName: 'van Wyk' },
] as const;

/** With the key of a person, if SVC_OPERATOR_KEY is set, because the shared key ends with the first operator. */
export function connectForDemo(url: string, sharedKey: string): Administration {
  return createAdministration(url, readOperatorKey(process.env) ?? sharedKey, 'the demo data could not be created', {
    patience: PATIENCE,
    notReadySeconds: 30 * PATIENCE,
  });
}

/** @param stored the content of demo.json, unless the file was lost: then everything is created again */
export async function seed(
  admin: Administration,
  mainApi: MainApi,
  stored: Partial<DemoData> | undefined,
): Promise<DemoData> {
  const existing = (await readList(admin, 'merchants', 0)) as Pick<DemoMerchant, 'merchantId' | 'name'>[];
  // The first page begins after the lowest UUID.
  const organisations = (await readList(admin, 'organisations', '00000000-0000-0000-0000-000000000000')) as Pick<
    DemoPartner,
    'organisationId' | 'name'
  >[];
  const { merchants, roastery, partner, customers } = stored ?? {};
  // The id alone is not enough, because another database assigns the same ids to other merchants.
  const isOfThisDatabase =
    merchants !== undefined &&
    roastery !== undefined &&
    [...merchants, roastery].every(({ merchantId, name }) =>
      existing.some((merchant) => merchant.merchantId === merchantId && merchant.name === name),
    ) &&
    organisations.some(({ organisationId }) => organisationId === partner?.organisationId);
  if (isOfThisDatabase && partner && customers) return { merchants, roastery, partner, customers };
  const created: DemoMerchant[] = [];
  for (const plan of DEMO_MERCHANTS) created.push(await createMerchant(admin, plan));
  const createdRoastery = await createMerchant(admin, DEMO_ROASTERY);
  await createOwner(admin, createdRoastery.merchantId, DEMO_OWNER);
  await createOwner(admin, created[0]!.merchantId, GUIDE_OWNER);
  const isRepeated = organisations.some(({ name }) => name === DEMO_PARTNER);
  return { merchants: created, roastery: createdRoastery, ...(await createPartner(admin, mainApi, isRepeated)) };
}

export async function createMerchant(
  admin: Administration,
  { name, sites: plans }: MerchantPlan,
): Promise<DemoMerchant> {
  const { merchantId } = (await admin.call('POST', '/merchants', { name })) as { merchantId: number };
  const path = `/merchants/${merchantId}`;
  const apiKey = await createKey(admin, path);
  const sites: DemoSite[] = [];
  for (const plan of plans) {
    const { siteId, webhookSecrets } = (await admin.call('POST', `${path}/sites`, plan)) as {
      siteId: number;
      webhookSecrets: { test: string };
    };
    const { siteReference, requireApiKey } = plan;
    const keyOfSite = await createKey(admin, `${path}/sites/${siteId}`);
    sites.push({ siteId, siteReference, apiKey: keyOfSite, webhookSecret: webhookSecrets.test, requireApiKey });
  }
  return { merchantId, name, apiKey, sites };
}

/** Invites an owner. The sign-in link accepts the invitation, which would otherwise expire. */
async function createOwner(admin: Administration, merchantId: number, email: string): Promise<void> {
  await admin.call('POST', `/merchants/${merchantId}/people`, { email, role: 'owner' });
  await createSignInLink(admin, email);
}

/** As {@link createSignInLink}, for an owner who is missing if the demo data are older than the owner. */
export async function createOwnerLink(admin: Administration, merchantId: number, email: string): Promise<string> {
  return createSignInLink(admin, email).catch(async () => {
    await createOwner(admin, merchantId, email);
    return createSignInLink(admin, email);
  });
}

/** The path of a link at the address of the console, which signs the person in once, within 24 hours. */
export async function createSignInLink(admin: Administration, email: string): Promise<string> {
  const { path } = (await admin.call('POST', '/people/sign-in-link', { email })) as { path: string };
  return path;
}

async function createKey(admin: Administration, owner: string): Promise<string> {
  const { apiKey } = (await admin.call('POST', `${owner}/keys`, { mode: 'test' })) as { apiKey: string };
  return apiKey;
}

/** Creates the customers as a partner does: with the partner's key and token. */
async function createPartner(
  admin: Administration,
  mainApi: MainApi,
  isRepeated: boolean,
): Promise<Pick<DemoData, 'partner' | 'customers'>> {
  const name = DEMO_PARTNER;
  const { organisationId } = (await admin.call('POST', '/organisations', { name })) as { organisationId: string };
  const path = `/organisations/${organisationId}`;
  const apiKey = await createKey(admin, path);
  const { apiToken } = (await admin.call('POST', `${path}/api-tokens`, { mode: 'test' })) as { apiToken: string };
  const key = { 'x-api-key': apiKey };
  const login = await mainApi<{ identityToken: string }>('/v1/auth/service/login', key, { organisationId, apiToken });
  const headers = { ...key, authorization: `Bearer ${login.identityToken}` };
  const customers: DemoCustomer[] = [];
  for (const plan of DEMO_CUSTOMERS) {
    const password = randomBytes(12).toString('base64url');
    // The API does not reveal whether an address is taken, so customers of a second partner have other addresses.
    const email = isRepeated ? plan.email.replace('@', `+${randomBytes(3).toString('hex')}@`) : plan.email;
    const { userId } = await mainApi<{ userId: string }>('/v1/auth/users', headers, { ...plan, email, password });
    const { customerReference } = await mainApi<{ customerReference: string }>('/v1/auth/customers/register', headers, {
      userId,
    });
    customers.push({ ...plan, userId, customerReference, email, password });
  }
  return { partner: { organisationId, name, apiKey, apiToken }, customers };
}

/** Sends a POST request to the main API, and returns the parsed response. */
export type MainApi = <Response>(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: object,
) => Promise<Response>;

export function connectToMainApi(url: string): MainApi {
  return async <Response>(path: string, headers: Readonly<Record<string, string>>, body: object) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000 * PATIENCE),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as Response;
    throw new SvcError(
      `the demo partner could not be created: ${path} answered ${response.status} ${text.slice(0, 300)}`,
    );
  };
}

import { createHash } from 'node:crypto';
import { newSealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, httpClient, startTestService, type TestService, type TestServiceOptions } from '@svc/testing';
import { identityService } from '../src/index.js';

export const ADMIN_KEY = 'an administration key for tests 1';
export const SEALING_KEY = createHash('sha256').update('a sealing key for tests').digest('base64url');

/** The address of the console, for which passkeys are created. */
export const CONSOLE_URL = 'https://console.svc.example';

/**
 * Starts identity with a new database. The key that encrypts secrets for webhook-dispatcher is not yet published.
 */
export function startIdentityWithoutSealingKey({
  env = {},
  ...options
}: TestServiceOptions = {}): Promise<TestService> {
  return startTestService(identityService, {
    ...options,
    env: { SVC_ADMIN_KEY: ADMIN_KEY, SVC_SEALING_KEY: SEALING_KEY, SVC_CONSOLE_URL: CONSOLE_URL, ...env },
  });
}

/**
 * Starts identity with a new database and an encryption key of webhook-dispatcher, so that sites and keys can be
 * created. A test may deliver another encryption key, which replaces this key.
 */
export async function startIdentity(options: TestServiceOptions = {}): Promise<TestService> {
  const identity = await startIdentityWithoutSealingKey(options);
  const { publicJwk } = await newSealedKeyPair('sealing-key-of-start-identity', SEALING_KEY);
  const event = anEvent(SealingKeyPublishedV1, 'sealing-key-of-start-identity', 1, { publicJwk });
  await identity.deliver({ ...event, occurredAt: '2026-01-01T00:00:00.000Z' });
  return identity;
}

export type Client = ReturnType<typeof httpClient>;

/** An HTTP client that sends the administration key. */
export function adminClient({ service }: TestService): Client {
  return httpClient(service, { 'x-admin-key': ADMIN_KEY });
}

/** A new organisation (partner) with an API key and an API token in one mode. */
export interface TestPartner {
  readonly organisationId: string;
  readonly keyId: string;
  readonly apiKey: string;
  readonly tokenId: string;
  readonly apiToken: string;
}

/**
 * Creates a partner with credentials of one mode.
 *
 * @param existingOrganisationId adds the credentials to this organisation instead of a new organisation
 */
export async function createPartner(
  identity: TestService,
  mode: 'test' | 'live' = 'test',
  existingOrganisationId?: string,
): Promise<TestPartner> {
  const admin = adminClient(identity);
  const organisationId: string =
    existingOrganisationId ?? (await admin('POST', '/admin/v1/organisations', { name: 'Partner' })).body.organisationId;
  const organisationPath = `/admin/v1/organisations/${organisationId}`;
  const { keyId, apiKey } = (await admin('POST', `${organisationPath}/keys`, { mode })).body;
  const { tokenId, apiToken } = (await admin('POST', `${organisationPath}/api-tokens`, { mode })).body;
  return { organisationId, keyId, apiKey, tokenId, apiToken };
}

/** Logs the partner's server in and returns its identity token. */
export async function logIn(identity: TestService, partner: TestPartner): Promise<string> {
  const { organisationId, apiToken, apiKey } = partner;
  const client = httpClient(identity.service, { 'x-api-key': apiKey });
  const response = await client('POST', '/v1/auth/service/login', { organisationId, apiToken });
  if (response.status !== 200) throw new Error(`The login failed with status ${response.status}.`);
  return response.body.identityToken;
}

/** An HTTP client that sends the partner's API key and this token. */
export function partnerClient(identity: TestService, partner: TestPartner, token: string): Client {
  return httpClient(identity.service, { 'x-api-key': partner.apiKey, authorization: `Bearer ${token}` });
}

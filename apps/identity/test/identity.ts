import { createHash } from 'node:crypto';
import { newSealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, httpClient, startTestService, type TestService, type TestServiceOptions } from '@svc/testing';
import { identityService } from '../src/index.js';

export const ADMIN_KEY = 'an administration key for tests 1';
export const SEALING_KEY = createHash('sha256').update('a sealing key for tests').digest('base64url');

/** identity on a database of its own, before webhook-dispatcher has published the key that secrets are sealed to. */
export function startIdentityWithoutSealingKey({
  env = {},
  ...options
}: TestServiceOptions = {}): Promise<TestService> {
  return startTestService(identityService, {
    ...options,
    env: { SVC_ADMIN_KEY: ADMIN_KEY, SVC_SEALING_KEY: SEALING_KEY, ...env },
  });
}

/** identity on a database of its own, ready to create sites and keys. A sealing key that a test delivers replaces this one. */
export async function startIdentity(options: TestServiceOptions = {}): Promise<TestService> {
  const identity = await startIdentityWithoutSealingKey(options);
  const { publicJwk } = await newSealedKeyPair('sealing-key-of-the-builder', SEALING_KEY);
  const event = anEvent(SealingKeyPublishedV1, 'sealing-key-of-the-builder', 1, { publicJwk });
  await identity.deliver({ ...event, occurredAt: '2026-01-01T00:00:00.000Z' });
  return identity;
}

export type Client = ReturnType<typeof httpClient>;

export function adminOf({ service }: TestService): Client {
  return httpClient(service, { 'x-admin-key': ADMIN_KEY });
}

/** A partner in one mode, as an administrator creates it; a new one for each test. */
export interface TestPartner {
  readonly organisationId: string;
  readonly keyId: string;
  readonly apiKey: string;
  readonly tokenId: string;
  readonly apiToken: string;
}

/** @param existing an organisation that has credentials already, for example of the other mode */
export async function aPartner(
  identity: TestService,
  mode: 'test' | 'live' = 'test',
  existing?: string,
): Promise<TestPartner> {
  const admin = adminOf(identity);
  const organisationId: string =
    existing ?? (await admin('POST', '/admin/v1/organisations', { name: 'Partner' })).body.organisationId;
  const organisation = `/admin/v1/organisations/${organisationId}`;
  const { keyId, apiKey } = (await admin('POST', `${organisation}/keys`, { mode })).body;
  const { tokenId, apiToken } = (await admin('POST', `${organisation}/api-tokens`, { mode })).body;
  return { organisationId, keyId, apiKey, tokenId, apiToken };
}

/** The identity token of a partner's server. */
export async function logIn(identity: TestService, partner: TestPartner): Promise<string> {
  const { organisationId, apiToken, apiKey } = partner;
  const client = httpClient(identity.service, { 'x-api-key': apiKey });
  const answer = await client('POST', '/v1/auth/service/login', { organisationId, apiToken });
  if (answer.status !== 200) throw new Error(`The login failed with status ${answer.status}.`);
  return answer.body.identityToken;
}

/** Client with the partner's key and this token. */
export function clientOf(identity: TestService, partner: TestPartner, token: string): Client {
  return httpClient(identity.service, { 'x-api-key': partner.apiKey, authorization: `Bearer ${token}` });
}

/** The server of a partner: logs in, calls the main API, and decodes codes. */
import { PATIENCE } from '@svc/testing';
import type { Platform } from '../platform/platform.js';
import { waitUntilAccepted } from './accepted-credentials.js';

/** Headers of every call. */
export type PartnerHeaders = Readonly<Record<'x-api-key' | 'authorization', string>>;

/** The credentials of an organisation. */
export type PartnerCredentials = Readonly<Record<'organisationId' | 'apiKey' | 'apiToken', string>>;

export interface DecodedBody {
  readonly merchant: Readonly<Record<string, unknown>>;
  readonly invoice: Readonly<Record<string, unknown>>;
}

/** @param partner defaults to the demo's partner */
export async function logIn(
  platform: Platform,
  partner: PartnerCredentials = platform.demo.partner,
): Promise<PartnerHeaders> {
  const { apiUrl } = platform.demo;
  const { apiKey, organisationId, apiToken } = partner;
  const answer = await fetch(`${apiUrl}/v1/auth/service/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({ organisationId, apiToken }),
  });
  if (!answer.ok) throw new Error(`The partner cannot log in: ${answer.status}`);
  const { identityToken } = (await answer.json()) as { identityToken: string };
  return { 'x-api-key': apiKey, authorization: `Bearer ${identityToken}` };
}

/** Logs in one of the demo's customers, with the headers of {@link logIn}. */
export async function logInCustomer(platform: Platform, server: PartnerHeaders, index = 0): Promise<PartnerHeaders> {
  const { email, password } = platform.demo.customers[index]!;
  const { status, body } = await callApi<{ identityToken: string }>(
    platform,
    'POST',
    '/v1/auth/customers/login',
    server,
    { email, password },
  );
  if (status !== 200 || !body) throw new Error(`The customer cannot log in: ${status}`);
  return { 'x-api-key': server['x-api-key'], authorization: `Bearer ${body.identityToken}` };
}

/** Calls the main API once. The returned body is undefined if the answer has no body. */
export async function callApi<T>(
  platform: Platform,
  method: 'GET' | 'POST',
  path: string,
  headers: PartnerHeaders,
  body?: object,
): Promise<{ status: number; body: T | undefined }> {
  const answer = await fetch(`${platform.demo.apiUrl}${path}`, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000 * PATIENCE),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as T) };
}

/** Creates an organisation, and waits until every service knows its key and tokens. */
export async function onboardPartner(platform: Platform): Promise<PartnerCredentials> {
  const { adminUrl, adminKey } = platform.demo;
  const administer = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { 'content-type': 'application/json', 'x-admin-key': adminKey };
    const answer = await fetch(`${adminUrl}/admin/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} is refused: ${answer.status}`);
    return (await answer.json()) as Record<string, string>;
  };
  const { organisationId = '' } = await administer('/organisations', { name: 'Braai Pay' });
  const { apiKey = '' } = await administer(`/organisations/${organisationId}/keys`, { mode: 'test' });
  const { apiToken = '' } = await administer(`/organisations/${organisationId}/api-tokens`, { mode: 'test' });
  const partner = { organisationId, apiKey, apiToken };
  const headers = await logIn(platform, partner);
  await waitUntilAccepted({
    'code-decoder': () => decodeCode(platform, 'x', headers),
    'payment-history': () => callApi(platform, 'GET', '/v1/payments', headers),
    'payment-processor': () => callApi(platform, 'POST', '/v1/payments', headers, {}),
  });
  return partner;
}

export async function decodeCode(
  platform: Platform,
  code: string,
  headers: PartnerHeaders,
): Promise<{ status: number; headers: Headers; body: DecodedBody | undefined }> {
  const url = `${platform.demo.apiUrl}/v1/codes/${Buffer.from(code).toString('base64')}`;
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(20_000 * PATIENCE) });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === '' ? undefined : (JSON.parse(text) as DecodedBody),
  };
}

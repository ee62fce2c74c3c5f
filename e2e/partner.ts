/** A partner's server, on-boarded through the administration API and logged in as partners do. */
import { waitUntil } from '@svc/testing';
import type { Platform } from './platform.js';

/** What a partner's server sends with every call. */
export type PartnerHeaders = Readonly<Record<'x-api-key' | 'authorization', string>>;

export async function onboardPartner(platform: Platform): Promise<PartnerHeaders> {
  const { apiUrl, adminUrl, adminKey } = platform.demo;
  const administer = (path: string, body: object) =>
    post(`${adminUrl}/admin/v1${path}`, { 'x-admin-key': adminKey }, body);
  const { organisationId } = await administer('/organisations', { name: 'Braai Pay' });
  const { apiKey } = await administer(`/organisations/${organisationId}/keys`, { mode: 'test' });
  const { apiToken } = await administer(`/organisations/${organisationId}/api-tokens`, { mode: 'test' });
  const { identityToken } = await post(
    `${apiUrl}/v1/auth/service/login`,
    { 'x-api-key': apiKey! },
    { organisationId, apiToken },
  );
  const headers = { 'x-api-key': apiKey!, authorization: `Bearer ${identityToken}` };
  // Key and token are known elsewhere a moment later.
  await waitUntil('the partner to be known', 5_000, async () => (await decode(platform, 'x', headers)).status !== 401);
  return headers;
}

export async function decode(
  platform: Platform,
  code: string,
  headers: PartnerHeaders,
): Promise<{ status: number; headers: Headers; body: DecodedBody | undefined }> {
  const url = `${platform.demo.apiUrl}/v1/codes/${Buffer.from(code).toString('base64')}`;
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(20_000) });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === '' ? undefined : (JSON.parse(text) as DecodedBody),
  };
}

export interface DecodedBody {
  readonly merchant: Readonly<Record<string, unknown>>;
  readonly invoice: Readonly<Record<string, unknown>>;
}

async function post(url: string, headers: Record<string, string>, body: object): Promise<Record<string, string>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text) as Record<string, string>;
}

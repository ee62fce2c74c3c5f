/** The demo partner's server, logged in as partners do. */
import type { Platform } from './platform.js';

/** What it sends with every call. */
export type PartnerHeaders = Readonly<Record<'x-api-key' | 'authorization', string>>;

export interface DecodedBody {
  readonly merchant: Readonly<Record<string, unknown>>;
  readonly invoice: Readonly<Record<string, unknown>>;
}

export async function logIn(platform: Platform): Promise<PartnerHeaders> {
  const { apiUrl, partner } = platform.demo;
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

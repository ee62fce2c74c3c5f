import type { HostedApiVersion, Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';

/** The site that a notification is signed for, and the version that decides which API key signs it (H5, E3). */
export interface NotifiedSite {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  readonly apiVersion: HostedApiVersion;
}

/** The keys that sign a notification: part of the body's signature (E3), and of the headers (E4). */
export type SigningKey = 'api-key' | 'webhook-secret';

/** Refuses a session whose payments could never be reported, and says what to do about it. */
export function noSigningKey(site: NotifiedSite, missing: readonly SigningKey[]): DomainError {
  const named = missing.map((key) => nameOf(key, site)).join(' and ');
  return new DomainError('webhook.no-signing-key', {
    message:
      `This session could never be notified: its webhook cannot be signed. Missing: ${named}. ` +
      'Ask the administrator of the platform to create it, then send the request again.',
  });
}

function nameOf(key: SigningKey, { merchantId, siteId, mode, apiVersion }: NotifiedSite): string {
  if (key === 'webhook-secret') return `a webhook secret of site ${siteId} in mode ${mode}`;
  if (apiVersion === 'v3.1') return `an API key of site ${siteId} in mode ${mode} (it signs ${apiVersion})`;
  return `an API key of merchant ${merchantId} in mode ${mode} (it signs ${apiVersion})`;
}

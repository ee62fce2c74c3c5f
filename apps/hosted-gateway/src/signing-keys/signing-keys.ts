import type { HostedApiVersion, Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';

/** The site of a notification, and the API version that decides which key signs it (H5, E3). */
export interface NotifiedSite {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  readonly apiVersion: HostedApiVersion;
}

/** The keys that sign a notification: the API key signs the body (E3), the webhook secret signs the headers (E4). */
export type SigningKey = 'api-key' | 'webhook-secret';

/** The error for a session whose notifications could not be signed. Its message names the missing keys. */
export function createNoSigningKeyError(site: NotifiedSite, missing: readonly SigningKey[]): DomainError {
  const descriptions = missing.map((key) => describeKey(key, site)).join(' and ');
  return new DomainError('webhook.no-signing-key', {
    message:
      `This session could never be notified: its webhook cannot be signed. Missing: ${descriptions}. ` +
      'Ask the administrator of the platform to create it, then send the request again.',
  });
}

function describeKey(key: SigningKey, { merchantId, siteId, mode, apiVersion }: NotifiedSite): string {
  if (key === 'webhook-secret') return `a webhook secret of site ${siteId} in mode ${mode}`;
  if (apiVersion === 'v3.1') return `an API key of site ${siteId} in mode ${mode} (it signs ${apiVersion})`;
  return `an API key of merchant ${merchantId} in mode ${mode} (it signs ${apiVersion})`;
}

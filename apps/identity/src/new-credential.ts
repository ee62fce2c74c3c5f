import type { Change } from './audit-log/change.js';

/** The choices of the creator of an API key or a webhook secret. */
export interface NewCredential {
  /** UUID in lower case. A repeat with the same id creates nothing. A new one by default. */
  readonly credentialId?: string;
  /** The valid credential that the new one replaces. It is revoked at `endsAt`. */
  readonly replaced?: { readonly credentialId: string; readonly endsAt: Date } | undefined;
}

/** The audit entry of a replaced credential. */
export function endScheduled(
  action: 'api-key.end-scheduled' | 'webhook-secret.end-scheduled',
  owner: Pick<Change, 'merchantId' | 'siteId'>,
  credentialId: string,
  endsAt: Date,
): Change {
  return { action, ...owner, credentialId, after: { endsUTCDate: endsAt.toISOString() } };
}

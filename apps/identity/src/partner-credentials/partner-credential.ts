import { createHash, randomBytes } from 'node:crypto';
import { type Mode, type PartnerKeyChanged, PartnerKeyChangedV1 } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** `api-key`: a request sends it in `x-api-key` (A6). `api-token`: a partner's server logs in with it (A1). */
export type CredentialKind = 'api-key' | 'api-token';

/** Metadata of a partner's credential, without the secret. */
export interface PartnerCredential {
  readonly credentialId: string;
  readonly kind: CredentialKind;
  readonly mode: Mode;
  readonly organisationId: string;
  /** Lower-case hex SHA-256 of the whole credential. */
  readonly hash: string;
  readonly prefix: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly version: number;
}

/** A credential in the lists of the administration API. */
export interface PartnerCredentialView {
  readonly credentialId: string;
  readonly mode: Mode;
  /** Beginning of the credential. It identifies the credential in lists. */
  readonly prefix: string;
  readonly revoked: boolean;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  /** ISO 8601 UTC with milliseconds (C2). Absent while the credential is valid. */
  readonly revokedUTCDate?: string;
}

/** A new API token: a prefix with its kind and mode, and 32 random bytes. */
export function newApiToken(mode: Mode): string {
  return `svc_${mode}_token_${randomBytes(32).toString('base64url')}`;
}

/** Returns the hash that is stored instead of the token. A fast hash is safe, because the token has 32 random bytes. */
export function hashApiToken(apiToken: string): string {
  return createHash('sha256').update(apiToken).digest('hex');
}

export function toPartnerCredentialView(credential: PartnerCredential): PartnerCredentialView {
  const { credentialId, mode, prefix, createdAt, revokedAt } = credential;
  return {
    credentialId,
    mode,
    prefix,
    revoked: revokedAt !== null,
    createdUTCDate: createdAt.toISOString(),
    ...(revokedAt ? { revokedUTCDate: revokedAt.toISOString() } : {}),
  };
}

/** Returns the event for services of the main API. An API token has no event, because only identity accepts it. */
export function partnerKeyChanged(credential: PartnerCredential): NewEvent<PartnerKeyChanged>[] {
  const { credentialId: keyId, kind, mode, organisationId, hash, revokedAt, version } = credential;
  if (kind === 'api-token') return [];
  const payload = { keyId, organisationId, mode, hash, revoked: revokedAt !== null };
  return [{ type: PartnerKeyChangedV1, aggregateId: keyId, aggregateVersion: version, payload }];
}

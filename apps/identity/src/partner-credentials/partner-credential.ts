import { createHash, randomBytes } from 'node:crypto';
import { type Mode, type PartnerKeyChanged, PartnerKeyChangedV1 } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** `api-key`: `x-api-key` of every call (A6). `api-token`: what a partner's server logs in with (A1). */
export type CredentialKind = 'api-key' | 'api-token';

/** A credential of a partner without what opens anything. */
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

/** A credential as the administration API lists it. */
export interface PartnerCredentialView {
  readonly credentialId: string;
  readonly mode: Mode;
  /** Beginning of the credential, to recognise it by. */
  readonly prefix: string;
  readonly revoked: boolean;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  /** ISO 8601 UTC with milliseconds (C2); absent while it is valid. */
  readonly revokedUTCDate?: string;
}

/** A new API token: 32 random bytes behind a prefix that tells what it is and its mode. */
export function newApiToken(mode: Mode): string {
  return `svc_${mode}_token_${randomBytes(32).toString('base64url')}`;
}

/** A plain hash is enough: 32 random bytes cannot be guessed from it. */
export function hashApiToken(apiToken: string): string {
  return createHash('sha256').update(apiToken).digest('hex');
}

export function showCredential(credential: PartnerCredential): PartnerCredentialView {
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

/** What every service is told: of an API token nothing, for identity alone takes it. */
export function credentialChanged(credential: PartnerCredential): NewEvent<PartnerKeyChanged>[] {
  const { credentialId: keyId, kind, mode, organisationId, hash, revokedAt, version } = credential;
  if (kind === 'api-token') return [];
  const payload = { keyId, organisationId, mode, hash, revoked: revokedAt !== null };
  return [{ type: PartnerKeyChangedV1, aggregateId: keyId, aggregateVersion: version, payload }];
}

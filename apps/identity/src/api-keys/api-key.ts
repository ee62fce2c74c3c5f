import {
  type ApiKeyChanged,
  ApiKeyChangedV1,
  type Mode,
  type SigningSecretChanged,
  SigningSecretChangedV1,
} from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** The owner of a key: a merchant with all its sites, or one site (A6). */
export interface KeyOwner {
  readonly merchantId: number;
  readonly siteId?: number | undefined;
}

/** Metadata of a key, without the secret. */
export interface ApiKey {
  readonly keyId: string;
  readonly kind: 'merchant' | 'site';
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number | null;
  /** Lower-case hex SHA-256 of the whole key. */
  readonly hash: string;
  readonly prefix: string;
  /** The key as compact JWE, encrypted for webhook-dispatcher. */
  readonly sealed: string;
  readonly isPrimary: boolean;
  readonly createdAt: Date;
  /** When the key is revoked automatically, after it was replaced. */
  readonly endsAt: Date | null;
  readonly revokedAt: Date | null;
  readonly version: number;
}

/** A key in the response of `GET …/keys`. */
export interface ApiKeyView {
  readonly keyId: string;
  readonly kind: 'merchant' | 'site';
  readonly mode: Mode;
  /** Beginning of the key. It identifies the key in lists. */
  readonly prefix: string;
  /** Whether webhooks are signed with this key (E3). At most one key of each owner and mode is primary. */
  readonly primary: boolean;
  readonly revoked: boolean;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  /** ISO 8601 UTC with milliseconds (C2). When the key is revoked automatically. Absent if it was not replaced. */
  readonly endsUTCDate?: string;
  /** ISO 8601 UTC with milliseconds (C2). Absent while the key is valid. */
  readonly revokedUTCDate?: string;
}

/**
 * Returns the constant beginning of the key and six random characters. They identify the key in lists. 220 bits of the
 * key stay secret.
 */
export function recognisablePrefix(apiKey: string): string {
  const prefix = /^svc_[a-z]+_[a-z]+_.{6}/.exec(apiKey)?.[0];
  if (prefix === undefined) throw new Error('The text is not an API key.');
  return prefix;
}

/** The key that becomes primary when the primary key is revoked: the newest valid key of the same owner and mode. */
export function findSuccessor<K extends Pick<ApiKey, 'keyId' | 'mode' | 'revokedAt'>>(
  revokedKey: Pick<ApiKey, 'keyId' | 'mode'>,
  newestFirst: readonly K[],
): K | undefined {
  return newestFirst.find(
    (key) => key.keyId !== revokedKey.keyId && key.mode === revokedKey.mode && key.revokedAt === null,
  );
}

export function toApiKeyView(key: ApiKey): ApiKeyView {
  return {
    keyId: key.keyId,
    kind: key.kind,
    mode: key.mode,
    prefix: key.prefix,
    primary: key.isPrimary,
    revoked: key.revokedAt !== null,
    createdUTCDate: key.createdAt.toISOString(),
    ...(key.endsAt ? { endsUTCDate: key.endsAt.toISOString() } : {}),
    ...(key.revokedAt ? { revokedUTCDate: key.revokedAt.toISOString() } : {}),
  };
}

/** The event for all services that authenticate merchants. */
export function apiKeyChanged(key: ApiKey): NewEvent<ApiKeyChanged> {
  const { keyId, kind, mode, hash } = key;
  const payload = { keyId, kind, mode, ...ownerFields(key), hash, revoked: key.revokedAt !== null };
  return { type: ApiKeyChangedV1, aggregateId: keyId, aggregateVersion: key.version, payload };
}

/** The event for webhook-dispatcher: the encrypted key, and whether webhooks are signed with it (E3). */
export function signingKeyChanged(key: ApiKey): NewEvent<SigningSecretChanged> {
  const payload: SigningSecretChanged = {
    secretId: key.keyId,
    purpose: 'api-key',
    mode: key.mode,
    ...ownerFields(key),
    sealed: key.sealed,
    primary: key.isPrimary,
    revoked: key.revokedAt !== null,
  };
  return { type: SigningSecretChangedV1, aggregateId: key.keyId, aggregateVersion: key.version, payload };
}

function ownerFields({ merchantId, siteId }: ApiKey): { merchantId: number; siteId?: number } {
  return siteId === null ? { merchantId } : { merchantId, siteId };
}

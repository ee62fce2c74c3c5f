import { OPERATOR_KEY_PREFIX } from '@svc/auth';
import { type OperatorKeyChanged, OperatorKeyChangedV1, type OperatorRole } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** Metadata of a key of an operator for the administration API, without the key. */
export interface OperatorKey {
  readonly keyId: string;
  readonly personId: string;
  readonly role: OperatorRole;
  /** Lower-case hex SHA-256 of the whole key. */
  readonly hash: string;
  /** Beginning of the key. It identifies the key in lists. */
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly version: number;
}

/** A key in the list, with the email of its operator: null if the person was removed. */
export interface ListedOperatorKey extends OperatorKey {
  readonly email: string | null;
}

export interface OperatorKeyView {
  /** @schema uuid */
  readonly keyId: string;
  /** @schema uuid */
  readonly personId: string;
  /** Absent if the operator was removed. */
  readonly email?: string;
  readonly role: OperatorRole;
  /** Beginning of the key. It identifies the key in lists. */
  readonly prefix: string;
  /** Whether the key is refused, because it was revoked or has expired. */
  readonly ended: boolean;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  readonly expiresUTCDate: string;
  /** Absent if the key was not revoked. */
  readonly revokedUTCDate?: string;
}

export function toOperatorKeyView(key: ListedOperatorKey, now: Date): OperatorKeyView {
  const { keyId, personId, email, role, prefix, createdAt, expiresAt, revokedAt } = key;
  return {
    keyId,
    personId,
    ...(email === null ? {} : { email }),
    role,
    prefix,
    ended: revokedAt !== null || expiresAt <= now,
    createdUTCDate: createdAt.toISOString(),
    expiresUTCDate: expiresAt.toISOString(),
    ...(revokedAt ? { revokedUTCDate: revokedAt.toISOString() } : {}),
  };
}

/** The first characters of a new key, so that a person can recognise the key in lists. */
export function operatorKeyBeginning(key: string): string {
  return key.slice(0, OPERATOR_KEY_PREFIX.length + 6);
}

/** The event for the services with an administration API. */
export function operatorKeyChanged(key: OperatorKey): NewEvent<OperatorKeyChanged> {
  const { keyId, personId, role, hash, expiresAt, revokedAt, version } = key;
  const payload = { keyId, personId, role, hash, expiresUTCDate: expiresAt.toISOString(), revoked: revokedAt !== null };
  return { type: OperatorKeyChangedV1, aggregateId: keyId, aggregateVersion: version, payload };
}

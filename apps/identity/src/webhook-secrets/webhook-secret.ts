import { randomBytes } from 'node:crypto';
import {
  type Mode,
  type SigningSecretChanged,
  SigningSecretChangedV1,
  type WebhookSecretChanged,
  WebhookSecretChangedV1,
} from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** A secret that signs the notifications of a site, in encrypted form, with its metadata. */
export interface WebhookSecret {
  readonly secretId: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  /** The secret as compact JWE, encrypted for webhook-dispatcher. */
  readonly sealed: string;
  readonly createdAt: Date;
  /** When the secret is revoked automatically, after it was replaced. */
  readonly endsAt: Date | null;
  readonly revokedAt: Date | null;
  readonly version: number;
}

/** A secret in the response of `GET …/webhook-secrets`. */
export interface WebhookSecretView {
  readonly secretId: string;
  readonly mode: Mode;
  readonly revoked: boolean;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  /** ISO 8601 UTC with milliseconds (C2). When the secret is revoked automatically. Absent if it was not replaced. */
  readonly endsUTCDate?: string;
  /** ISO 8601 UTC with milliseconds (C2). Absent while the secret is valid. */
  readonly revokedUTCDate?: string;
}

/** Generates a secret of 32 random bytes in the format of the Standard Webhooks libraries: `whsec_` and base64 (E4). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export function toWebhookSecretView({
  secretId,
  mode,
  createdAt,
  endsAt,
  revokedAt,
}: WebhookSecret): WebhookSecretView {
  return {
    secretId,
    mode,
    revoked: revokedAt !== null,
    createdUTCDate: createdAt.toISOString(),
    ...(endsAt ? { endsUTCDate: endsAt.toISOString() } : {}),
    ...(revokedAt ? { revokedUTCDate: revokedAt.toISOString() } : {}),
  };
}

/** The event for hosted-gateway, which has to know whether notifications of the site and mode can be signed. */
export function webhookSecretChanged(secret: WebhookSecret): NewEvent<WebhookSecretChanged> {
  const { secretId, mode, merchantId, siteId, revokedAt, version } = secret;
  const payload = { secretId, mode, merchantId, siteId, revoked: revokedAt !== null };
  return { type: WebhookSecretChangedV1, aggregateId: secretId, aggregateVersion: version, payload };
}

/**
 * The event for webhook-dispatcher. A webhook secret is never primary, because all valid webhook secrets sign a
 * notification (E4). Of the API keys, only the primary key signs (E3).
 */
export function signingSecretChanged(secret: WebhookSecret): NewEvent<SigningSecretChanged> {
  const { secretId, mode, merchantId, siteId, sealed, revokedAt, version } = secret;
  const payload: SigningSecretChanged = {
    secretId,
    purpose: 'webhook-secret',
    mode,
    merchantId,
    siteId,
    sealed,
    primary: false,
    revoked: revokedAt !== null,
  };
  return { type: SigningSecretChangedV1, aggregateId: secretId, aggregateVersion: version, payload };
}

import type { Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { type EntityManager, IsNull } from 'typeorm';
import type { WebhookSecret } from './webhook-secret.js';
import { WebhookSecretRow } from './webhook-secret.row.js';

const MAX_LISTED_SECRETS = 100;

/** Throws `resource.not-found` if the secret does not exist or belongs to another site. */
export async function getWebhookSecret(
  tx: EntityManager,
  merchantId: number,
  siteId: number,
  secretId: string,
): Promise<WebhookSecret> {
  const secret = await tx.findOneBy(WebhookSecretRow, { merchantId, siteId, secretId });
  if (!secret)
    throw new DomainError('resource.not-found', {
      message: `Site ${siteId} of merchant ${merchantId} has no webhook secret ${secretId}.`,
    });
  return secret;
}

/** Returns at most 100 secrets, the newest first, including revoked secrets. */
export function listWebhookSecrets(tx: EntityManager, merchantId: number, siteId: number): Promise<WebhookSecret[]> {
  return tx.find(WebhookSecretRow, {
    where: { merchantId, siteId },
    order: { ordinal: 'DESC' },
    take: MAX_LISTED_SECRETS,
  });
}

export function countValidWebhookSecrets(
  tx: EntityManager,
  merchantId: number,
  siteId: number,
  mode: Mode,
): Promise<number> {
  return tx.countBy(WebhookSecretRow, { merchantId, siteId, mode, revokedAt: IsNull() });
}

/** Throws `resource.conflict` if a secret with this id exists. */
export async function insertWebhookSecret(tx: EntityManager, secret: WebhookSecret): Promise<void> {
  await tx.insert(WebhookSecretRow, secret).catch((error: unknown) => {
    if (!isUniqueViolation(error, 'webhook_secrets_pkey')) throw error;
    throw new DomainError('resource.conflict', { message: 'This secret exists already.', cause: error });
  });
}

/**
 * Lets a secret end at this time, or earlier if that was scheduled before. Returns the time, undefined without a valid
 * secret.
 */
export async function scheduleSecretEnd(
  tx: EntityManager,
  {
    merchantId,
    siteId,
    secretId,
    mode,
    endsAt,
  }: Pick<WebhookSecret, 'merchantId' | 'siteId' | 'secretId' | 'mode'> & {
    endsAt: Date;
  },
): Promise<Date | undefined> {
  const secret = await tx.findOneBy(WebhookSecretRow, { merchantId, siteId, secretId, mode, revokedAt: IsNull() });
  if (!secret) return undefined;
  if (secret.endsAt && secret.endsAt <= endsAt) return secret.endsAt;
  await tx.update(WebhookSecretRow, { merchantId, siteId, secretId }, { endsAt });
  return endsAt;
}

/** Returns the revoked secret with its next version. */
export async function revokeWebhookSecret(
  tx: EntityManager,
  secret: WebhookSecret,
  revokedAt: Date,
): Promise<WebhookSecret> {
  const { merchantId, siteId, secretId } = secret;
  const change = { revokedAt, version: secret.version + 1 };
  await tx.update(WebhookSecretRow, { merchantId, siteId, secretId }, change);
  return { ...secret, ...change };
}

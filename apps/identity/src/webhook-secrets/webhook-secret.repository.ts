import type { Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
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
  if (!secret) throw new DomainError('resource.not-found');
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

export async function insertWebhookSecret(tx: EntityManager, secret: WebhookSecret): Promise<void> {
  await tx.insert(WebhookSecretRow, secret);
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

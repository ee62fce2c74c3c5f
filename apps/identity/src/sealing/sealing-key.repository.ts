import type { PublicKeyJwk } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { EntityManager } from 'typeorm';

/**
 * Returns the newest public key of webhook-dispatcher. Throws `service.not-ready` if webhook-dispatcher has not yet
 * published a key.
 */
export async function getSealingKey(tx: EntityManager): Promise<PublicKeyJwk> {
  const [row] = await tx.query<{ public_jwk: PublicKeyJwk }[]>(`SELECT public_jwk FROM sealing_key`);
  if (!row) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
  return row.public_jwk;
}

/** Replaces the stored key only if the new key has a higher version, or the same version and a later time. */
export async function upsertSealingKeyIfNewer(
  tx: EntityManager,
  publicJwk: PublicKeyJwk,
  version: number,
  occurredAt: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO sealing_key (public_jwk, version, occurred_at) VALUES ($1, $2, $3)
         ON CONFLICT (only_one) DO UPDATE
           SET public_jwk = excluded.public_jwk, version = excluded.version, occurred_at = excluded.occurred_at
         WHERE (sealing_key.version, sealing_key.occurred_at) < (excluded.version, excluded.occurred_at)`,
    [JSON.stringify(publicJwk), version, occurredAt],
  );
}

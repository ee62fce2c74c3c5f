import type { PublicKeyJwk } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { CompactEncrypt, importJWK } from 'jose';
import type { EntityManager } from 'typeorm';

/**
 * A secret as compact JWE (ECDH-ES, A256GCM) that its reader alone can open: the plaintext is the secret as the
 * merchant knows it, UTF-8; the header's `kid` names the reader's key.
 */
export async function seal(secret: string, { ...publicJwk }: PublicKeyJwk): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(secret))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid })
    .encrypt(await importJWK(publicJwk, 'ECDH-ES'));
}

/**
 * The newest key of webhook-dispatcher. Until it has published one nothing may be made that only it could open:
 * `service.not-ready`.
 */
export async function getSealingKey(tx: EntityManager): Promise<PublicKeyJwk> {
  const [row] = await tx.query<{ public_jwk: PublicKeyJwk }[]>(`SELECT public_jwk FROM sealing_key`);
  if (!row) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
  return row.public_jwk;
}

import type { PublicKeyJwk } from '@svc/contracts';
import { CompactEncrypt, importJWK } from 'jose';

/**
 * Encrypts a secret as compact JWE (ECDH-ES, A256GCM) for the owner of the key: the plaintext is the secret in UTF-8, as the
 * merchant knows it; `kid` in the header names the key.
 */
export async function seal(secret: string, { ...publicJwk }: PublicKeyJwk): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(secret))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid })
    .encrypt(await importJWK(publicJwk, 'ECDH-ES'));
}

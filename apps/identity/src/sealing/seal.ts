import type { PublicKeyJwk } from '@svc/contracts';
import { CompactEncrypt, importJWK } from 'jose';

/**
 * A secret as compact JWE (ECDH-ES, A256GCM) that its reader alone can open: the plaintext is the secret as the
 * merchant knows it, UTF-8; the header's `kid` names the reader's key.
 */
export async function seal(secret: string, { ...publicJwk }: PublicKeyJwk): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(secret))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid })
    .encrypt(await importJWK(publicJwk, 'ECDH-ES'));
}

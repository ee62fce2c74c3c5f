import type { PublicKeyJwk } from '@svc/contracts';
import { CompactEncrypt, importJWK } from 'jose';

/**
 * Encrypts a secret with a public key as compact JWE (ECDH-ES, A256GCM). Only the owner of the private key can decrypt
 * the result. The plaintext is the secret in UTF-8, exactly as the merchant received it. The `kid` in the header is the
 * id of the public key.
 */
export async function seal(secret: string, { ...publicJwk }: PublicKeyJwk): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(secret))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid })
    .encrypt(await importJWK(publicJwk, 'ECDH-ES'));
}

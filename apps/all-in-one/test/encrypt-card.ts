import { CompactEncrypt, importJWK, type JWK } from 'jose';
import { aCard } from './two-partners.js';

/** A card as a page or a partner's app sends it: encrypted, and bound to what it pays (P8). */
export async function encryptCard(key: JWK & { kid: string }, binding: object): Promise<string> {
  return new CompactEncrypt(Buffer.from(JSON.stringify({ card: aCard(), binding })))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid, cty: 'json' })
    .encrypt(await importJWK(key, 'ECDH-ES'));
}

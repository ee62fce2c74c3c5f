import { CompactEncrypt, importJWK, type JWK } from 'jose';
import { aCard } from './two-partners.js';

/** Encrypts a card as a page or a partner's app does, bound to its payable (P8). */
export async function encryptCard(key: JWK & { kid: string }, binding: object): Promise<string> {
  return new CompactEncrypt(Buffer.from(JSON.stringify({ card: aCard(), binding })))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid, cty: 'json' })
    .encrypt(await importJWK(key, 'ECDH-ES'));
}

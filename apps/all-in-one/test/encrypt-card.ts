import { CompactEncrypt, importJWK, type JWK } from 'jose';
import { newCardData } from './two-partners.js';

/** Encrypts a card, bound to its payable, as the payment page or a partner's app does (P8). */
export async function encryptCard(key: JWK & { kid: string }, binding: object, cardNumber?: string): Promise<string> {
  const card = { ...newCardData(), ...(cardNumber === undefined ? {} : { cardNumber }) };
  return new CompactEncrypt(Buffer.from(JSON.stringify({ card, binding })))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid, cty: 'json' })
    .encrypt(await importJWK(key, 'ECDH-ES'));
}

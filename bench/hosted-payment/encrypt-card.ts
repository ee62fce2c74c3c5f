/**
 * Encrypts a card into the format of the SDK's `encryptCard`, a compact JWE (ECDH-ES on P-256, A256GCM), with the
 * synchronous cryptography of Node.js. The SDK needs the asynchronous one of browsers; for this program, which plays ten
 * thousand payers, that costs a quarter of the machine.
 */
import type { KeyObject } from 'node:crypto';
import {
  createCipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto';
import type { CardPlaintext } from '@svc/sdk/card';

const ENCRYPTION = 'A256GCM';
const keys = new Map<string, { readonly kid: string; readonly key: KeyObject }>();

/** @param jwkText the processor's public key, from the page */
export function encryptCard(plaintext: CardPlaintext, jwkText: string): string {
  const { kid, key } = keyOf(jwkText);
  const ephemeral = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = ephemeral.publicKey.export({ format: 'jwk' });
  const header = base64({ alg: 'ECDH-ES', enc: ENCRYPTION, kid, cty: 'json', epk: { kty, crv, x, y } });
  const secret = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: key });
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derive(secret), iv).setAAD(Buffer.from(header));
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(plaintext)), cipher.final()]);
  // No encrypted key: with ECDH-ES the derived one is used directly.
  return [header, '', ...[iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.');
}

/** Concat KDF of NIST SP 800-56A, one round of SHA-256, with the fields of RFC 7518 (4.6.2). */
function derive(secret: Buffer): Buffer {
  const field = (text: string): Buffer => Buffer.concat([number(text.length), Buffer.from(text)]);
  const parts = [number(1), secret, field(ENCRYPTION), field(''), field(''), number(256)];
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function keyOf(jwkText: string): { kid: string; key: KeyObject } {
  let known = keys.get(jwkText);
  if (!known) {
    const jwk = JSON.parse(jwkText) as { kid: string };
    known = { kid: jwk.kid, key: createPublicKey({ key: { ...jwk }, format: 'jwk' }) };
    keys.set(jwkText, known);
  }
  return known;
}

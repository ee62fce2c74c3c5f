/**
 * Encrypts a card in the format of the SDK's `encryptCard`: a compact JWE (ECDH-ES on P-256, A256GCM). It uses the
 * synchronous cryptography of Node.js. The SDK uses the asynchronous cryptography of browsers, which would need a
 * quarter of the machine's CPU for the ten thousand payments of a run.
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
const importedKeys = new Map<string, { readonly kid: string; readonly key: KeyObject }>();

/** @param jwkText the processor's public key, from the page */
export function encryptCard(plaintext: CardPlaintext, jwkText: string): string {
  const { kid, key } = importKey(jwkText);
  const ephemeral = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = ephemeral.publicKey.export({ format: 'jwk' });
  const header = toBase64UrlJson({ alg: 'ECDH-ES', enc: ENCRYPTION, kid, cty: 'json', epk: { kty, crv, x, y } });
  const secret = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: key });
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secret), iv).setAAD(Buffer.from(header));
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(plaintext)), cipher.final()]);
  // The second field, the encrypted key, is empty: with ECDH-ES the derived key encrypts the content directly.
  return [header, '', ...[iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.');
}

/** Concat KDF of NIST SP 800-56A, one round of SHA-256, with the fields of RFC 7518 (4.6.2). */
function deriveKey(secret: Buffer): Buffer {
  const field = (text: string): Buffer => Buffer.concat([toUint32(text.length), Buffer.from(text)]);
  const parts = [toUint32(1), secret, field(ENCRYPTION), field(''), field(''), toUint32(256)];
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function toBase64UrlJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function importKey(jwkText: string): { kid: string; key: KeyObject } {
  let imported = importedKeys.get(jwkText);
  if (!imported) {
    const jwk = JSON.parse(jwkText) as { kid: string };
    imported = { kid: jwk.kid, key: createPublicKey({ key: { ...jwk }, format: 'jwk' }) };
    importedKeys.set(jwkText, imported);
  }
  return imported;
}

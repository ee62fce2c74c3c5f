import { createDecipheriv, createHash, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';

/**
 * An encrypted card as a page sends it (P8): JWE in compact serialisation (RFC 7516), direct ECDH-ES on the curve P-256
 * (RFC 7518, 4.6), A256GCM. Everything else is rejected: other algorithms, compression, critical extensions.
 *
 * `CardKeys` decrypts with this code and not with the library that encrypts, because the library needs twice the
 * processor time for each payment.
 */
interface EncryptedCard {
  /** Id of the key pair. */
  readonly kid: string;
  /** Throws {@link UnreadableCardError} when the key does not match, or the content was changed. */
  decrypt(privateKey: KeyObject): Buffer;
}

/**
 * Parses a JWE. Throws {@link UnreadableCardError} for any value that is not a JWE as {@link EncryptedCard} describes.
 */
export function readEncryptedCard(jwe: string): EncryptedCard {
  const parts = jwe.split('.');
  if (parts.length !== 5) throw new UnreadableCardError('parts');
  const [header, wrappedKey, nonce, ciphertext, tag] = parts as [string, string, string, string, string];
  if (wrappedKey !== '') throw new UnreadableCardError('wrapped key');
  const { kid, senderKey, otherInfo } = readHeader(header);
  const [iv, encrypted, authTag] = [decode(nonce), decode(ciphertext), decode(tag)];
  if (iv.length !== NONCE_BYTES || authTag.length !== TAG_BYTES) throw new UnreadableCardError('nonce or tag');
  return {
    kid,
    decrypt: (privateKey) => {
      const shared = diffieHellman({ privateKey, publicKey: senderKey });
      const key = createHash('sha256').update(FIRST_ROUND).update(shared).update(otherInfo).digest();
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(header, 'ascii')).setAuthTag(authTag);
      const content = decipher.update(encrypted);
      try {
        return Buffer.concat([content, decipher.final()]);
      } catch {
        throw new UnreadableCardError('wrong key, or changed');
      }
    },
  };
}

/** The message names the invalid part. It never contains the part's value. */
export class UnreadableCardError extends Error {
  override readonly name = 'UnreadableCardError';
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BITS = 256;
const ENCRYPTION = 'A256GCM';
/** Counter of the Concat KDF (NIST SP 800-56A). One round of SHA-256 is enough for the whole key. */
const FIRST_ROUND = encodeUInt32(1);
const BASE64URL = /^[A-Za-z0-9_-]*$/;
/** A coordinate of P-256, 32 bytes. */
const COORDINATE = /^[A-Za-z0-9_-]{43}$/;

interface Header {
  readonly kid: string;
  readonly senderKey: KeyObject;
  /** `OtherInfo` of the Concat KDF: the encryption algorithm, the two parties and the length of the key. */
  readonly otherInfo: Buffer;
}

function readHeader(encoded: string): Header {
  const header = requireObject(JSON.parse(decode(encoded).toString('utf8')), 'header');
  const { alg, enc, kid, zip, crit, apu, apv } = header;
  if (alg !== 'ECDH-ES' || enc !== ENCRYPTION) throw new UnreadableCardError('algorithm');
  if (zip !== undefined || crit !== undefined) throw new UnreadableCardError('extension');
  if (typeof kid !== 'string') throw new UnreadableCardError('kid');
  const { kty, crv, x, y } = requireObject(header['epk'], 'epk');
  if (kty !== 'EC' || crv !== 'P-256' || !isCoordinate(x) || !isCoordinate(y)) throw new UnreadableCardError('epk');
  // Throws for a point that is not on the curve: an invalid-curve attack could reveal the private key.
  const senderKey = createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
  const fields = [prependLength(Buffer.from(ENCRYPTION)), encodeParty(apu), encodeParty(apv), encodeUInt32(KEY_BITS)];
  return { kid, senderKey, otherInfo: Buffer.concat(fields) };
}

function encodeParty(info: unknown): Buffer {
  if (info === undefined) return prependLength(Buffer.alloc(0));
  if (typeof info !== 'string') throw new UnreadableCardError('party');
  return prependLength(decode(info));
}

function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && COORDINATE.test(value);
}

function requireObject(value: unknown, partName: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnreadableCardError(partName);
  return value as Record<string, unknown>;
}

function decode(base64url: string): Buffer {
  if (!BASE64URL.test(base64url)) throw new UnreadableCardError('base64url');
  return Buffer.from(base64url, 'base64url');
}

function prependLength(bytes: Buffer): Buffer {
  return Buffer.concat([encodeUInt32(bytes.length), bytes]);
}

/** Encodes a number as 32 bits, big-endian. */
function encodeUInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

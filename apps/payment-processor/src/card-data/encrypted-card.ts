import { createDecipheriv, createHash, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';

/**
 * An encrypted card as a page sends it (P8): JWE in compact serialisation (RFC 7516), direct ECDH-ES on the curve P-256
 * (RFC 7518, 4.6), A256GCM. Everything else is rejected: other algorithms, compression, critical extensions.
 *
 * `CardKeys` uses this code and not the library that encrypts: the library takes twice the processor time, on every payment.
 */
export interface EncryptedCard {
  /** Id of the key pair. */
  readonly kid: string;
  /** Throws {@link UnreadableCard} when the key does not match, or the content was changed. */
  open(privateKey: KeyObject): Buffer;
}

/** Throws {@link UnreadableCard} for anything but such a JWE. */
export function readEncryptedCard(jwe: string): EncryptedCard {
  const parts = jwe.split('.');
  if (parts.length !== 5) throw new UnreadableCard('parts');
  const [header, wrappedKey, nonce, ciphertext, tag] = parts as [string, string, string, string, string];
  if (wrappedKey !== '') throw new UnreadableCard('wrapped key');
  const { kid, senderKey, agreement } = readHeader(header);
  const [iv, sealed, authTag] = [decode(nonce), decode(ciphertext), decode(tag)];
  if (iv.length !== NONCE_BYTES || authTag.length !== TAG_BYTES) throw new UnreadableCard('nonce or tag');
  return {
    kid,
    open: (privateKey) => {
      const shared = diffieHellman({ privateKey, publicKey: senderKey });
      const key = createHash('sha256').update(FIRST_ROUND).update(shared).update(agreement).digest();
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(header, 'ascii')).setAuthTag(authTag);
      const content = decipher.update(sealed);
      try {
        return Buffer.concat([content, decipher.final()]);
      } catch {
        throw new UnreadableCard('wrong key, or changed');
      }
    },
  };
}

/** Names the invalid part, and never contains its value. */
export class UnreadableCard extends Error {
  override readonly name = 'UnreadableCard';
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BITS = 256;
const ENCRYPTION = 'A256GCM';
/** Counter of the Concat KDF (NIST SP 800-56A): one round of SHA-256 yields the whole key. */
const FIRST_ROUND = numberOf(1);
const BASE64URL = /^[A-Za-z0-9_-]*$/;
/** A coordinate of P-256, 32 bytes. */
const COORDINATE = /^[A-Za-z0-9_-]{43}$/;

interface Header {
  readonly kid: string;
  readonly senderKey: KeyObject;
  /** Further input of the key derivation: the encryption algorithm and the two parties. */
  readonly agreement: Buffer;
}

function readHeader(encoded: string): Header {
  const header = asObject(JSON.parse(decode(encoded).toString('utf8')), 'header');
  const { alg, enc, kid, zip, crit, apu, apv } = header;
  if (alg !== 'ECDH-ES' || enc !== ENCRYPTION) throw new UnreadableCard('algorithm');
  if (zip !== undefined || crit !== undefined) throw new UnreadableCard('extension');
  if (typeof kid !== 'string') throw new UnreadableCard('kid');
  const { kty, crv, x, y } = asObject(header['epk'], 'epk');
  if (kty !== 'EC' || crv !== 'P-256' || !isCoordinate(x) || !isCoordinate(y)) throw new UnreadableCard('epk');
  // Throws for a point that is not on the curve: an invalid-curve attack could reveal the private key.
  const senderKey = createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
  const parties = [withLength(Buffer.from(ENCRYPTION)), party(apu), party(apv), numberOf(KEY_BITS)];
  return { kid, senderKey, agreement: Buffer.concat(parties) };
}

function party(info: unknown): Buffer {
  if (info === undefined) return withLength(Buffer.alloc(0));
  if (typeof info !== 'string') throw new UnreadableCard('party');
  return withLength(decode(info));
}

function isCoordinate(value: unknown): value is string {
  return typeof value === 'string' && COORDINATE.test(value);
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnreadableCard(what);
  return value as Record<string, unknown>;
}

function decode(base64url: string): Buffer {
  if (!BASE64URL.test(base64url)) throw new UnreadableCard('base64url');
  return Buffer.from(base64url, 'base64url');
}

function withLength(bytes: Buffer): Buffer {
  return Buffer.concat([numberOf(bytes.length), bytes]);
}

/** 32 bits, big-endian. */
function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

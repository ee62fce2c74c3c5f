import { createCipheriv, createDecipheriv, createPrivateKey, hkdfSync, randomBytes } from 'node:crypto';
import type { PublicKeyJwk, TokenKeyJwk } from '@svc/contracts';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

/**
 * A key pair. Only this service uses the private key. Other services encrypt data with the public key, or verify
 * signatures with the public key. The private key is sealed: it is stored encrypted (AES-256-GCM) with the sealing key
 * from the environment. A copy of the database is therefore not enough to decrypt data or to sign.
 */
export interface SealedKeyPair<PublicJwk = PublicKeyJwk> {
  readonly publicJwk: PublicJwk;
  /**
   * base64: 12 bytes nonce, 16 bytes tag, ciphertext of the private JWK. The kid is the additional authenticated data.
   */
  readonly sealedPrivateKey: string;
}

/**
 * Generates a pair for encryption. `kid` is the permanent id of the pair: use a UUID. `sealingKey` is 32 bytes as
 * base64url.
 */
export async function newSealedKeyPair(kid: string, sealingKey: string): Promise<SealedKeyPair> {
  return generatePair({ kid, use: 'enc', alg: 'ECDH-ES' }, sealingKey);
}

/** Generates a pair that signs identity tokens (A2). `kid` and `sealingKey`: see {@link newSealedKeyPair}. */
export async function newSealedTokenKey(kid: string, sealingKey: string): Promise<SealedKeyPair<TokenKeyJwk>> {
  return generatePair({ kid, use: 'sig', alg: 'ES256' }, sealingKey);
}

async function generatePair<PublicJwk extends PublicKeyJwk | TokenKeyJwk>(
  purpose: Pick<PublicJwk, 'kid' | 'use' | 'alg'>,
  sealingKey: string,
): Promise<SealedKeyPair<PublicJwk>> {
  const { kid, alg } = purpose;
  const { publicKey, privateKey } = await generateKeyPair(alg, { crv: 'P-256', extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), ...purpose } as unknown as PublicJwk;
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', deriveEncryptionKey(sealingKey), nonce).setAAD(Buffer.from(kid));
  const ciphertext = Buffer.concat([cipher.update(JSON.stringify(await exportJWK(privateKey))), cipher.final()]);
  return { publicJwk, sealedPrivateKey: Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64') };
}

/** Decrypts the private key, for `jose`. Throws for another sealing key, another kid or a modified ciphertext. */
export function decryptPrivateKey(
  kid: string,
  sealedPrivateKey: string,
  sealingKey: string,
): ReturnType<typeof createPrivateKey> {
  const sealed = Buffer.from(sealedPrivateKey, 'base64');
  // The length of the tag is set, because Node.js would otherwise accept a truncated tag, which is easier to forge.
  const decipher = createDecipheriv('aes-256-gcm', deriveEncryptionKey(sealingKey), sealed.subarray(0, 12), {
    authTagLength: 16,
  })
    .setAAD(Buffer.from(kid))
    .setAuthTag(sealed.subarray(12, 28));
  const jwk = JSON.parse(Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString()) as JWK;
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

function deriveEncryptionKey(sealingKey: string): Buffer {
  const secret = Buffer.from(sealingKey, 'base64url');
  if (secret.length !== 32) throw new Error('A sealing key is 32 bytes as base64url.');
  return Buffer.from(hkdfSync('sha256', secret, '', 'svc key pairs', 32));
}

import { randomBytes } from 'node:crypto';
import { compactDecrypt, CompactEncrypt, importJWK, jwtVerify, SignJWT } from 'jose';
import { decryptPrivateKey, newSealedKeyPair, newSealedTokenKey } from './sealed-key-pair.js';

const SEALING_KEY = randomBytes(32).toString('base64url');
/** The error message of AES-GCM if the key, the kid or the ciphertext is not the original one. */
const DECRYPTION_ERROR = 'unable to authenticate data';

describe('a sealed key pair', () => {
  it('decrypts data that was encrypted with its public key', async () => {
    const { publicJwk, sealedPrivateKey } = await newSealedKeyPair('pair-1', SEALING_KEY);
    const encrypted = await new CompactEncrypt(Buffer.from('a secret'))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid })
      .encrypt(await importJWK({ ...publicJwk }, 'ECDH-ES'));
    const { plaintext } = await compactDecrypt(encrypted, decryptPrivateKey('pair-1', sealedPrivateKey, SEALING_KEY));
    expect(Buffer.from(plaintext).toString()).toBe('a secret');
  });

  it('has a public JWK without the private key', async () => {
    const { publicJwk } = await newSealedKeyPair('pair-1', SEALING_KEY);
    const coordinate = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/);
    expect(publicJwk).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x: coordinate,
      y: coordinate,
      kid: 'pair-1',
      use: 'enc',
      alg: 'ECDH-ES',
    });
  });

  it('does not contain the private key as plain text in its sealed private key', async () => {
    const { sealedPrivateKey } = await newSealedKeyPair('pair-1', SEALING_KEY);
    const { d } = decryptPrivateKey('pair-1', sealedPrivateKey, SEALING_KEY).export({ format: 'jwk' });
    expect(d).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const raw = Buffer.from(sealedPrivateKey, 'base64');
    for (const plainKey of [d!, Buffer.from(d!, 'base64url')]) expect(raw.indexOf(plainKey)).toBe(-1);
  });

  it('differs from every other generated pair, even with the same kid', async () => {
    const [first, second] = [
      await newSealedKeyPair('pair-1', SEALING_KEY),
      await newSealedKeyPair('pair-1', SEALING_KEY),
    ];
    expect(first.publicJwk.x).not.toBe(second.publicJwk.x);
    expect(first.sealedPrivateKey.slice(0, 16)).not.toBe(second.sealedPrivateKey.slice(0, 16));
  });

  it('cannot be decrypted with another sealing key, with the kid of another pair, or after a modification', async () => {
    const { sealedPrivateKey } = await newSealedKeyPair('pair-1', SEALING_KEY);
    expect(() => decryptPrivateKey('pair-1', sealedPrivateKey, randomBytes(32).toString('base64url'))).toThrow(
      DECRYPTION_ERROR,
    );
    expect(() => decryptPrivateKey('pair-2', sealedPrivateKey, SEALING_KEY)).toThrow(DECRYPTION_ERROR);
    const sealed = Buffer.from(sealedPrivateKey, 'base64');
    // The first bytes of the nonce, the tag and the ciphertext, and the last byte of the ciphertext.
    for (const position of [0, 12, 28, sealed.length - 1]) {
      const tampered = Buffer.from(sealed);
      tampered[position]! ^= 1;
      expect(() => decryptPrivateKey('pair-1', tampered.toString('base64'), SEALING_KEY)).toThrow(DECRYPTION_ERROR);
    }
    expect(() => decryptPrivateKey('pair-1', sealed.subarray(0, 20).toString('base64'), SEALING_KEY)).toThrow(
      'authentication tag',
    );
  });

  it.each(['', 'short', randomBytes(31).toString('base64url'), randomBytes(33).toString('base64url')])(
    'is not created with the sealing key %j, which is not 32 bytes',
    async (sealingKey) => {
      await expect(newSealedKeyPair('pair-1', sealingKey)).rejects.toThrow('32 bytes');
    },
  );
});

test('a key pair that was stored by an earlier version can be decrypted: its format and its key derivation may never change', () => {
  // Encrypted by another program, with a sealing key of 32 bytes of the value 7.
  const sealed = [
    'AQEBAQEBAQEBAQEBZ/m75WC0wAIRjeMYMgUwZJbT1CVIh84CnL5AdkMF5Y1i1AJOGlCUYOmLbtnq3cdMVPb7CAtdhSEF1xcS',
    'xNLyh/56bj7NAiKMPPSlgwhhhJ8eBYSPjAcdLCVSE/rRykgWOzT8FPr+pw1y5H1wqwUR/Jr3iPgBDRrYfeN/f65QruboNkQI',
    'I7fVb4eMcnZB9+Pc496b2dl0qXAArE9sF5mqVxtX59tNT8ANxCUOejDnFHqOyHdhoZEE7uyL+lrOJJKP',
  ].join('');
  const sealingKey = Buffer.alloc(32, 7).toString('base64url');
  expect(decryptPrivateKey('pair-1', sealed, sealingKey).export({ format: 'jwk' })).toEqual({
    kty: 'EC',
    crv: 'P-256',
    x: 'e60Sar16Ru94YjPbjJ3d_NLWFTbTKYUGjgk0EXPrJhA',
    y: '7VyV-ECg6_azn27GMoefqdzLOrRch1IuO6mhjQADdi8',
    d: expect.any(String),
  });
});

test('a token key signs a token that its public key verifies (A2)', async () => {
  const { publicJwk, sealedPrivateKey } = await newSealedTokenKey('token-1', SEALING_KEY);
  expect(publicJwk).toMatchObject({ kty: 'EC', crv: 'P-256', kid: 'token-1', use: 'sig', alg: 'ES256' });
  const token = await new SignJWT({ sub: 'c-1' })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(decryptPrivateKey('token-1', sealedPrivateKey, SEALING_KEY));
  expect((await jwtVerify(token, await importJWK({ ...publicJwk }, 'ES256'))).payload.sub).toBe('c-1');
});

import { randomBytes } from 'node:crypto';
import { compactDecrypt, CompactEncrypt, importJWK, jwtVerify, SignJWT } from 'jose';
import { newSealedKeyPair, newSealedTokenKey, openPrivateKey } from './sealed-key-pair.js';

const SEALING_KEY = randomBytes(32).toString('base64url');
/** The error of AES-GCM for another key, another name or other bytes. */
const UNAUTHENTIC = 'unable to authenticate data';

describe('a sealed key pair', () => {
  it('opens what was encrypted to its public half', async () => {
    const { publicJwk, sealedPrivateKey } = await newSealedKeyPair('pair-1', SEALING_KEY);
    const encrypted = await new CompactEncrypt(Buffer.from('a secret'))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid })
      .encrypt(await importJWK({ ...publicJwk }, 'ECDH-ES'));
    const { plaintext } = await compactDecrypt(encrypted, openPrivateKey('pair-1', sealedPrivateKey, SEALING_KEY));
    expect(Buffer.from(plaintext).toString()).toBe('a secret');
  });

  it('publishes only its public half', async () => {
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

  it('hides its private half from a reader of the database', async () => {
    const { sealedPrivateKey } = await newSealedKeyPair('pair-1', SEALING_KEY);
    const { d } = openPrivateKey('pair-1', sealedPrivateKey, SEALING_KEY).export({ format: 'jwk' });
    expect(d).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const raw = Buffer.from(sealedPrivateKey, 'base64');
    for (const written of [d!, Buffer.from(d!, 'base64url')]) expect(raw.indexOf(written)).toBe(-1);
  });

  it('is different each time', async () => {
    const [one, other] = [await newSealedKeyPair('pair-1', SEALING_KEY), await newSealedKeyPair('pair-1', SEALING_KEY)];
    expect(one.publicJwk.x).not.toBe(other.publicJwk.x);
    expect(one.sealedPrivateKey.slice(0, 16)).not.toBe(other.sealedPrivateKey.slice(0, 16));
  });

  it('cannot be opened with another sealing key, under the name of another pair, or after a change', async () => {
    const { sealedPrivateKey } = await newSealedKeyPair('pair-1', SEALING_KEY);
    expect(() => openPrivateKey('pair-1', sealedPrivateKey, randomBytes(32).toString('base64url'))).toThrow(
      UNAUTHENTIC,
    );
    expect(() => openPrivateKey('pair-2', sealedPrivateKey, SEALING_KEY)).toThrow(UNAUTHENTIC);
    const sealed = Buffer.from(sealedPrivateKey, 'base64');
    for (const position of [0, 12, 28, sealed.length - 1]) {
      const tampered = Buffer.from(sealed);
      tampered[position]! ^= 1;
      expect(() => openPrivateKey('pair-1', tampered.toString('base64'), SEALING_KEY)).toThrow(UNAUTHENTIC);
    }
    expect(() => openPrivateKey('pair-1', sealed.subarray(0, 20).toString('base64'), SEALING_KEY)).toThrow(
      'authentication tag',
    );
  });

  it.each(['', 'short', randomBytes(31).toString('base64url'), randomBytes(33).toString('base64url')])(
    'is not made under a sealing key that is not 32 bytes: %j',
    async (sealingKey) => {
      await expect(newSealedKeyPair('pair-1', sealingKey)).rejects.toThrow('32 bytes');
    },
  );
});

test('a stored key pair can always be opened: neither its format nor its derived key may change', () => {
  // Sealed by another program, with a sealing key of 32 bytes of value 7.
  const sealed = [
    'AQEBAQEBAQEBAQEBZ/m75WC0wAIRjeMYMgUwZJbT1CVIh84CnL5AdkMF5Y1i1AJOGlCUYOmLbtnq3cdMVPb7CAtdhSEF1xcS',
    'xNLyh/56bj7NAiKMPPSlgwhhhJ8eBYSPjAcdLCVSE/rRykgWOzT8FPr+pw1y5H1wqwUR/Jr3iPgBDRrYfeN/f65QruboNkQI',
    'I7fVb4eMcnZB9+Pc496b2dl0qXAArE9sF5mqVxtX59tNT8ANxCUOejDnFHqOyHdhoZEE7uyL+lrOJJKP',
  ].join('');
  const sealingKey = Buffer.alloc(32, 7).toString('base64url');
  expect(openPrivateKey('pair-1', sealed, sealingKey).export({ format: 'jwk' })).toEqual({
    kty: 'EC',
    crv: 'P-256',
    x: 'e60Sar16Ru94YjPbjJ3d_NLWFTbTKYUGjgk0EXPrJhA',
    y: '7VyV-ECg6_azn27GMoefqdzLOrRch1IuO6mhjQADdi8',
    d: expect.any(String),
  });
});

test('a token key signs, and its public half verifies (A2)', async () => {
  const { publicJwk, sealedPrivateKey } = await newSealedTokenKey('token-1', SEALING_KEY);
  expect(publicJwk).toMatchObject({ kty: 'EC', crv: 'P-256', kid: 'token-1', use: 'sig', alg: 'ES256' });
  const token = await new SignJWT({ sub: 'c-1' })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(openPrivateKey('token-1', sealedPrivateKey, SEALING_KEY));
  expect((await jwtVerify(token, await importJWK({ ...publicJwk }, 'ES256'))).payload.sub).toBe('c-1');
});

import { decryptPrivateKey, newSealedKeyPair } from '@svc/auth';
import { compactDecrypt, decodeProtectedHeader } from 'jose';
import { seal } from './seal.js';

const SEALING_KEY = Buffer.alloc(32, 7).toString('base64url');

describe('seal', () => {
  it('encrypts a secret so that only the owner of the private key can decrypt it', async () => {
    const reader = await newSealedKeyPair('reader', SEALING_KEY);
    const otherReader = await newSealedKeyPair('other-reader', SEALING_KEY);
    const sealed = await seal('whsec_c2VjcmV0', reader.publicJwk);

    expect(decodeProtectedHeader(sealed)).toMatchObject({ alg: 'ECDH-ES', enc: 'A256GCM', kid: 'reader' });
    const decrypted = await compactDecrypt(sealed, decryptPrivateKey('reader', reader.sealedPrivateKey, SEALING_KEY));
    expect(new TextDecoder().decode(decrypted.plaintext)).toBe('whsec_c2VjcmV0');
    await expect(
      compactDecrypt(sealed, decryptPrivateKey('other-reader', otherReader.sealedPrivateKey, SEALING_KEY)),
    ).rejects.toMatchObject({ code: 'ERR_JWE_DECRYPTION_FAILED' });
  });

  it('returns a different ciphertext each time', async () => {
    const { publicJwk } = await newSealedKeyPair('reader', SEALING_KEY);
    expect(await seal('secret', publicJwk)).not.toBe(await seal('secret', publicJwk));
  });
});

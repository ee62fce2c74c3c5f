import { generateKeyPairSync } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { encryptCard } from './encrypt-card.ts';

test('the load generator encrypts a card in the format of the SDK', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const card = { cardNumber: '4242424242424242', cvv: '123', holderName: 'Zoë', expiryMonth: 12, expiryYear: 2035 };
  const plaintext = {
    card,
    binding: { sessionId: 'session-1', paymentNumber: 1, expiresAt: '2026-03-01T10:00:00.000Z' },
  };
  const jwe = encryptCard(plaintext, JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: 'key-1' }));
  const decrypted = await compactDecrypt(jwe, privateKey, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  expect(JSON.parse(new TextDecoder().decode(decrypted.plaintext))).toEqual(plaintext);
  expect(decrypted.protectedHeader).toMatchObject({ alg: 'ECDH-ES', enc: 'A256GCM', kid: 'key-1', cty: 'json' });
});

import fc from 'fast-check';
import { compactDecrypt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { CardDataError, encryptCard, type CardEncryptionKey, type CardPlaintext } from './card.js';

const card = {
  cardNumber: '4242424242424242',
  cvv: '123',
  holderName: 'Ada Lovelace',
  expiryMonth: 5,
  expiryYear: 2027,
};
const binding = { sessionId: '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f', try: 1, expiresAt: '2026-11-20T18:33:36.123Z' };

let publicJwk: CardEncryptionKey;
let privateKey: CryptoKey;

beforeAll(async () => {
  const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  privateKey = pair.privateKey;
  publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'card-2026-11' };
});

async function open(jwe: string): Promise<CardPlaintext> {
  const { plaintext } = await compactDecrypt(jwe, privateKey, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  return JSON.parse(new TextDecoder().decode(plaintext)) as CardPlaintext;
}

describe('encryptCard', () => {
  it('can be opened with the private key, and says with which', async () => {
    const jwe = await encryptCard({ card, binding, publicJwk });
    expect(await open(jwe)).toEqual({ card, binding });
    expect(decodeProtectedHeader(jwe)).toEqual({
      alg: 'ECDH-ES',
      enc: 'A256GCM',
      kid: 'card-2026-11',
      cty: 'json',
      epk: expect.objectContaining({ kty: 'EC', crv: 'P-256' }),
    });
  });

  it('gives another text each time and shows no digit of the card in any part', async () => {
    const texts = await Promise.all([1, 2, 3].map(() => encryptCard({ card, binding, publicJwk })));
    expect(new Set(texts).size).toBe(3);
    for (const part of texts.flatMap((text) => text.split('.'))) {
      const clear = part + Buffer.from(part, 'base64url').toString('latin1');
      expect(clear).not.toContain('42424242');
      expect(clear).not.toContain('Lovelace');
    }
  });

  it('carries any name unharmed and no property that was not asked for', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '');
    await fc.assert(
      fc.asyncProperty(name, async (holderName) => {
        const withMore = { ...card, holderName, note: 'extra' };
        const { card: opened } = await open(await encryptCard({ card: withMore, binding, publicJwk }));
        expect(opened).toEqual({ ...card, holderName: holderName.trim() });
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ['card.cardNumber', { cardNumber: '4242 4242 4242 4242' }],
    ['card.cardNumber', { cardNumber: '42424242424' }],
    ['card.cardNumber', { cardNumber: 4242424242424242 as never }],
    ['card.cvv', { cvv: '12' }],
    ['card.cvv', { cvv: '12a' }],
    ['card.holderName', { holderName: '   ' }],
    ['card.holderName', { holderName: 'x'.repeat(101) }],
    ['card.expiryMonth', { expiryMonth: 13 }],
    ['card.expiryMonth', { expiryMonth: '05' as never }],
    ['card.expiryYear', { expiryYear: 27 }],
  ])('refuses a malformed %s without repeating it', async (field, change) => {
    const error: unknown = await encryptCard({ card: { ...card, ...change }, binding, publicJwk }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(CardDataError);
    expect(error).toMatchObject({ field });
    expect((error as Error).message).not.toMatch(/\d{4}/);
  });

  it.each([
    ['binding.sessionId', { sessionId: '' }],
    ['binding.try', { try: 0 }],
    ['binding.try', { try: 1.5 }],
    ['binding.expiresAt', { expiresAt: 'tomorrow' }],
  ])('refuses a malformed %s', async (field, change) => {
    await expect(encryptCard({ card, binding: { ...binding, ...change }, publicJwk })).rejects.toMatchObject({ field });
  });

  it('refuses a key without kid, of another kind, or private', async () => {
    const { kid: _kid, ...withoutKid } = publicJwk;
    const keys = [
      withoutKid,
      { ...publicJwk, crv: 'P-384' },
      { ...publicJwk, kty: 'RSA' },
      { ...publicJwk, d: 'AAAA' },
    ];
    for (const key of keys) {
      await expect(encryptCard({ card, binding, publicJwk: key as CardEncryptionKey })).rejects.toThrow(CardDataError);
    }
  });
});

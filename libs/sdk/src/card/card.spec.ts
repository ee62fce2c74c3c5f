import fc from 'fast-check';
import { compactDecrypt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import { CardDataError, type CardEncryptionKey, type CardPlaintext, encryptCard } from './card.js';

const card = {
  cardNumber: '4242424242424242',
  cvv: '123',
  holderName: 'Ada Lovelace',
  expiryMonth: 5,
  expiryYear: 2027,
};
const binding = {
  sessionId: '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
  paymentNumber: 1,
  expiresAt: '2026-11-20T18:33:36.123Z',
};

let publicJwk: CardEncryptionKey;
let privateKey: CryptoKey;

beforeAll(async () => {
  const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  privateKey = pair.privateKey;
  publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'card-2026-11' };
});

async function decryptCard(jwe: string): Promise<CardPlaintext> {
  const { plaintext } = await compactDecrypt(jwe, privateKey, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  return JSON.parse(new TextDecoder().decode(plaintext)) as CardPlaintext;
}

describe('encryptCard', () => {
  it('returns a JWE that the private key decrypts, and whose header contains the id of the key', async () => {
    const jwe = await encryptCard({ card, binding, publicJwk });
    expect(await decryptCard(jwe)).toEqual({ card, binding });
    expect(decodeProtectedHeader(jwe)).toEqual({
      alg: 'ECDH-ES',
      enc: 'A256GCM',
      kid: 'card-2026-11',
      cty: 'json',
      epk: expect.objectContaining({ kty: 'EC', crv: 'P-256' }),
    });
  });

  it('returns a different JWE for each call, and no part of it contains the card number or the name', async () => {
    const texts = await Promise.all([1, 2, 3].map(() => encryptCard({ card, binding, publicJwk })));
    expect(new Set(texts).size).toBe(3);
    for (const part of texts.flatMap((text) => text.split('.'))) {
      const encodedAndDecoded = part + Buffer.from(part, 'base64url').toString('latin1');
      expect(encodedAndDecoded).not.toContain('42424242');
      expect(encodedAndDecoded).not.toContain('Lovelace');
    }
  });

  it('encrypts any trimmed name unchanged, and no undocumented property', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '');
    await fc.assert(
      fc.asyncProperty(name, async (holderName) => {
        const withMore = { ...card, holderName, note: 'extra' };
        const { card: opened } = await decryptCard(await encryptCard({ card: withMore, binding, publicJwk }));
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
  ])('refuses a malformed %s, and the error does not contain its value', async (field, change) => {
    const error: unknown = await encryptCard({ card: { ...card, ...change }, binding, publicJwk }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(CardDataError);
    expect(error).toMatchObject({ field });
    expect((error as Error).message).not.toMatch(/\d{4}/);
  });

  const findProblem = async (input: { card?: object; binding?: object; key?: object }): Promise<unknown> =>
    encryptCard({
      card: { ...card, ...input.card },
      binding: { ...binding, ...input.binding },
      publicJwk: { ...publicJwk, ...input.key },
    }).then(
      () => 'none',
      (error: Error) => (error instanceof CardDataError && error.name === 'CardDataError' ? error.message : error),
    );

  it.each([
    [{ cardNumber: '42424242424' }, 'card.cardNumber must be 12 to 19 digits'],
    [{ cardNumber: '42424242424242424242' }, 'card.cardNumber must be 12 to 19 digits'],
    [{ cardNumber: 'x4242424242424242' }, 'card.cardNumber must be 12 to 19 digits'],
    [{ cardNumber: '4242424242424242x' }, 'card.cardNumber must be 12 to 19 digits'],
    [{ cvv: 'x123' }, 'card.cvv must be 3 or 4 digits'],
    [{ cvv: '123x' }, 'card.cvv must be 3 or 4 digits'],
    [{ cvv: '12345' }, 'card.cvv must be 3 or 4 digits'],
    [{ cvv: 123 }, 'card.cvv must be 3 or 4 digits'],
    [{ cvv: undefined }, 'card.cvv must be 3 or 4 digits'],
    [{ holderName: 7 }, 'card.holderName must have 1 to 100 characters'],
    [{ expiryMonth: 0 }, 'card.expiryMonth must be a number from 1 to 12'],
    [{ expiryMonth: 13 }, 'card.expiryMonth must be a number from 1 to 12'],
    [{ expiryYear: 1999 }, 'card.expiryYear must be a year of four digits'],
    [{ expiryYear: 2100 }, 'card.expiryYear must be a year of four digits'],
  ])('throws an error that names the invalid field of the card: %j', async (change, problem) => {
    expect(await findProblem({ card: change })).toBe(problem);
  });

  it.each([
    [{ sessionId: '' }, 'binding.sessionId must have 1 to 100 characters'],
    [{ sessionId: 'x'.repeat(101) }, 'binding.sessionId must have 1 to 100 characters'],
    [{ sessionId: ['s-1'] }, 'binding.sessionId must have 1 to 100 characters'],
    [{ paymentNumber: 0 }, 'binding.paymentNumber must be a number from 1'],
    [{ paymentNumber: 1.5 }, 'binding.paymentNumber must be a number from 1'],
    [{ paymentNumber: 1_001 }, 'binding.paymentNumber must be a number from 1'],
    [{ expiresAt: 'tomorrow' }, 'binding.expiresAt must be an ISO 8601 time'],
    [{ expiresAt: 'Fri, 20 Nov 2026 18:00:00 GMT' }, 'binding.expiresAt must be an ISO 8601 time'],
    [{ expiresAt: '2026-13-20T18:00:00Z' }, 'binding.expiresAt must be an ISO 8601 time'],
    [{ expiresAt: ['2026-11-20T18:00:00Z'] }, 'binding.expiresAt must be an ISO 8601 time'],
    [{ expiresAt: '+002026-11-20T18:00:00Z' }, 'binding.expiresAt must be an ISO 8601 time'],
  ])('throws an error that names the invalid field of the binding: %j', async (change, problem) => {
    expect(await findProblem({ binding: change })).toBe(problem);
  });

  it.each([
    [{ kid: undefined }, 'publicJwk.kid must be present'],
    [{ kid: '' }, 'publicJwk.kid must be present'],
    [{ kid: 'x'.repeat(101) }, 'publicJwk.kid must be present'],
    [{ crv: 'P-384' }, 'publicJwk must be an EC key on P-256'],
    [{ kty: 'RSA' }, 'publicJwk must be an EC key on P-256'],
    [{ d: 'AAAA' }, 'publicJwk must be a public key'],
  ])('refuses the encryption key %j', async (change, problem) => {
    expect(await findProblem({ key: change })).toBe(problem);
  });

  it.each([
    { card: { cardNumber: '4'.repeat(12) } },
    { card: { cardNumber: '4'.repeat(19) } },
    { card: { cvv: '1234' } },
    { card: { holderName: 'x'.repeat(100) } },
    { card: { expiryMonth: 1, expiryYear: 2000 } },
    { card: { expiryMonth: 12, expiryYear: 2099 } },
    { binding: { sessionId: 'x'.repeat(100), paymentNumber: 1_000 } },
    { key: { kid: 'x'.repeat(100) } },
  ])('accepts values at the limits of length or size: %j', async (change) => {
    expect(await findProblem(change)).toBe('none');
  });

  it('encrypts the name without leading and trailing spaces', async () => {
    const { card: opened } = await decryptCard(
      await encryptCard({ card: { ...card, holderName: ' Ada ' }, binding, publicJwk }),
    );
    expect(opened.holderName).toBe('Ada');
  });
});

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as fc from 'fast-check';
import { CompactEncrypt, type CompactJWEHeaderParameters } from 'jose';
import { readEncryptedCard } from './encrypted-card.js';

const KID = '5b1a8f4e-0c1d-4f53-9d29-3b6f0a0f7c11';
const newKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const recipientKeys = newKeyPair();

/** Encrypts with jose, the library that pages and partners use. */
function encrypt(
  text: string,
  header: Partial<CompactJWEHeaderParameters> = {},
  to: KeyObject = recipientKeys.publicKey,
) {
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: KID, ...header })
    .encrypt(to);
}

const decrypt = (jwe: string, key = recipientKeys.privateKey) => readEncryptedCard(jwe).decrypt(key).toString('utf8');

/** Changes the header without encrypting the content again. */
function withHeader(jwe: string, change: (header: Record<string, unknown>) => unknown): string {
  const [header, ...rest] = jwe.split('.');
  const changed = change(JSON.parse(Buffer.from(header!, 'base64url').toString()) as Record<string, unknown>);
  return [Buffer.from(JSON.stringify(changed)).toString('base64url'), ...rest].join('.');
}

const replacePart = (index: number, change: (part: string) => string) => (jwe: string) =>
  jwe
    .split('.')
    .map((part, partIndex) => (partIndex === index ? change(part) : part))
    .join('.');

describe('an encrypted card', () => {
  it('decrypts to the text that was encrypted with jose', async () => {
    const texts = fc.string({ unit: 'binary', maxLength: 600 });
    await fc.assert(
      fc.asyncProperty(texts, async (text) => expect(decrypt(await encrypt(text))).toBe(Buffer.from(text).toString())),
    );
  });

  it('has a key id, and may have the JWE members apu and apv, but is rejected if these are changed', async () => {
    expect(readEncryptedCard(await encrypt('card')).kid).toBe(KID);
    const jwe = await new CompactEncrypt(Buffer.from('card'))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: KID })
      .setKeyManagementParameters({ apu: Buffer.from('payer'), apv: Buffer.from('bank') })
      .encrypt(recipientKeys.publicKey);
    expect(decrypt(jwe)).toBe('card');
    for (const party of ['apu', 'apv'])
      for (const changed of ['c29tZWJvZHk', undefined])
        expect(() => decrypt(withHeader(jwe, (header) => ({ ...header, [party]: changed })))).toThrow(
          'wrong key, or changed',
        );
  });

  it('cannot be decrypted with another key', async () => {
    const jwe = await encrypt('card');
    expect(() => decrypt(jwe, newKeyPair().privateKey)).toThrow(
      expect.objectContaining({ name: 'UnreadableCardError', message: 'wrong key, or changed' }),
    );
  });

  it('is rejected when a single bit of any part is changed', async () => {
    const jwe = await encrypt('{"card":{"cardNumber":"4242424242424242"}}');
    // Part 1, the encrypted key, is empty with ECDH-ES.
    const bits = fc.record({ part: fc.constantFrom(0, 2, 3, 4), byte: fc.nat(), bit: fc.nat(7) });
    const rejectedCounts = { 0: 0, 2: 0, 3: 0, 4: 0 };
    fc.assert(
      fc.property(bits, ({ part, byte, bit }) => {
        const changed = replacePart(part, (text) => {
          const bytes = Buffer.from(text, 'base64url');
          bytes[byte % bytes.length]! ^= 1 << bit;
          return bytes.toString('base64url');
        })(jwe);
        expect(() => decrypt(changed)).toThrow(/./);
        rejectedCounts[part as 0]++;
      }),
      { numRuns: 400 },
    );
    for (const count of Object.values(rejectedCounts)) expect(count).toBeGreaterThan(40);
  });

  const changeHeader = (change: Record<string, unknown>) => (jwe: string) =>
    withHeader(jwe, (header) => ({ ...header, ...change }));
  const changeSenderKey = (change: Record<string, unknown>) => (jwe: string) =>
    withHeader(jwe, (header) => ({ ...header, epk: { ...(header['epk'] as object), ...change } }));

  it.each<[string, RegExp, (jwe: string) => string]>([
    ['only one part', /parts/, () => 'card'],
    ['only four parts', /parts/, (jwe) => jwe.split('.').slice(1).join('.')],
    ['six parts', /parts/, (jwe) => `${jwe}.x`],
    ['another algorithm', /algorithm/, changeHeader({ alg: 'ECDH-ES+A256KW' })],
    ['the algorithm "dir"', /algorithm/, changeHeader({ alg: 'dir' })],
    ['another content encryption', /algorithm/, changeHeader({ enc: 'A128GCM' })],
    ['compression', /extension/, changeHeader({ zip: 'DEF' })],
    ['a critical extension', /extension/, changeHeader({ crit: ['exp'], exp: 1 })],
    ['no key id', /kid/, changeHeader({ kid: undefined })],
    ['a number as key id', /kid/, changeHeader({ kid: 1 })],
    ['no sender key', /epk/, changeHeader({ epk: undefined })],
    ['a list as sender key', /epk/, changeHeader({ epk: [] })],
    ['text as sender key', /epk/, changeHeader({ epk: 'key' })],
    ['null as sender key', /epk/, changeHeader({ epk: null })],
    ['a sender key of another kind', /epk/, changeSenderKey({ kty: 'OKP' })],
    ['a sender key of another curve', /epk/, changeSenderKey({ crv: 'P-384' })],
    ['a coordinate that is too short', /epk/, changeSenderKey({ x: 'AAAA' })],
    ['a coordinate that is too long', /epk/, changeSenderKey({ x: 'A'.repeat(44) })],
    ['a number as coordinate', /epk/, changeSenderKey({ y: 1 })],
    ['a list as coordinate', /epk/, changeSenderKey({ y: ['A'.repeat(43)] })],
    ['a point that is not on the curve', /./, changeSenderKey({ x: 'A'.repeat(43), y: 'A'.repeat(43) })],
    ['a number as party info', /party/, changeHeader({ apu: 1 })],
    ['party info that is not base64url', /base64url/, changeHeader({ apv: 'a b' })],
    ['a list as header', /header/, (jwe) => withHeader(jwe, () => [])],
    ['text as header', /header/, (jwe) => withHeader(jwe, () => 'header')],
    ['null as header', /header/, (jwe) => withHeader(jwe, () => null)],
    ['a header that is not JSON', /JSON/, replacePart(0, () => 'abcd')],
    ['a wrapped key', /wrapped key/, replacePart(1, () => 'AAAA')],
    ['a nonce of 16 bytes', /nonce or tag/, replacePart(2, () => 'A'.repeat(22))],
    ['no nonce', /nonce or tag/, replacePart(2, () => '')],
    ['a tag that is too short', /nonce or tag/, replacePart(4, (tag) => tag.slice(0, 6))],
    ['base64 padding', /base64url/, replacePart(4, (tag) => `${tag}==`)],
    ['a line break in the ciphertext', /base64url/, replacePart(3, (text) => `${text}\n`)],
  ])('is rejected if it has %s', async (_, reason, change) => {
    const jwe = await encrypt('card');
    expect(decrypt(jwe)).toBe('card');
    expect(() => decrypt(change(jwe))).toThrow(reason);
  });
});

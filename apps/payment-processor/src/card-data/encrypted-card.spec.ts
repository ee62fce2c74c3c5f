import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as fc from 'fast-check';
import { CompactEncrypt, type CompactJWEHeaderParameters } from 'jose';
import { readEncryptedCard } from './encrypted-card.js';

const KID = '5b1a8f4e-0c1d-4f53-9d29-3b6f0a0f7c11';
const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ours = keyPair();

/** Encrypts with the library that pages and partners use. */
function encrypt(text: string, header: Partial<CompactJWEHeaderParameters> = {}, to: KeyObject = ours.publicKey) {
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: KID, ...header })
    .encrypt(to);
}

const open = (jwe: string, key = ours.privateKey) => readEncryptedCard(jwe).open(key).toString('utf8');

/** Changes and re-encodes the header, without new encryption. */
function withHeader(jwe: string, change: (header: Record<string, unknown>) => unknown): string {
  const [header, ...rest] = jwe.split('.');
  const changed = change(JSON.parse(Buffer.from(header!, 'base64url').toString()) as Record<string, unknown>);
  return [Buffer.from(JSON.stringify(changed)).toString('base64url'), ...rest].join('.');
}

const withPart = (index: number, change: (part: string) => string) => (jwe: string) =>
  jwe
    .split('.')
    .map((part, at) => (at === index ? change(part) : part))
    .join('.');

describe('an encrypted card', () => {
  it('decrypts any content that the library encrypted', async () => {
    const texts = fc.string({ unit: 'binary', maxLength: 600 });
    await fc.assert(
      fc.asyncProperty(texts, async (text) => expect(open(await encrypt(text))).toBe(Buffer.from(text).toString())),
    );
  });

  it('has a key id, and may have the JWE members apu and apv', async () => {
    expect(readEncryptedCard(await encrypt('card')).kid).toBe(KID);
    const jwe = await new CompactEncrypt(Buffer.from('card'))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: KID })
      .setKeyManagementParameters({ apu: Buffer.from('payer'), apv: Buffer.from('bank') })
      .encrypt(ours.publicKey);
    expect(open(jwe)).toBe('card');
    for (const party of ['apu', 'apv'])
      for (const changed of ['c29tZWJvZHk', undefined])
        expect(() => open(withHeader(jwe, (header) => ({ ...header, [party]: changed })))).toThrow(
          'wrong key, or changed',
        );
  });

  it('cannot be decrypted with another key', async () => {
    const jwe = await encrypt('card');
    expect(() => open(jwe, keyPair().privateKey)).toThrow('wrong key, or changed');
  });

  it('is rejected when a single bit of any part is changed', async () => {
    const jwe = await encrypt('{"card":{"cardNumber":"4242424242424242"}}');
    const bits = fc.record({ part: fc.constantFrom(0, 2, 3, 4), byte: fc.nat(), bit: fc.nat(7) });
    const refused = { 0: 0, 2: 0, 3: 0, 4: 0 };
    fc.assert(
      fc.property(bits, ({ part, byte, bit }) => {
        const changed = withPart(part, (text) => {
          const bytes = Buffer.from(text, 'base64url');
          bytes[byte % bytes.length]! ^= 1 << bit;
          return bytes.toString('base64url');
        })(jwe);
        expect(() => open(changed)).toThrow(/./);
        refused[part as 0]++;
      }),
      { numRuns: 400 },
    );
    for (const count of Object.values(refused)) expect(count).toBeGreaterThan(40);
  });

  const changed = (change: Record<string, unknown>) => (jwe: string) =>
    withHeader(jwe, (header) => ({ ...header, ...change }));
  const epk = (change: Record<string, unknown>) => (jwe: string) =>
    withHeader(jwe, (header) => ({ ...header, epk: { ...(header['epk'] as object), ...change } }));

  it.each<[string, RegExp, (jwe: string) => string]>([
    ['text', /parts/, () => 'card'],
    ['four parts', /parts/, (jwe) => jwe.split('.').slice(1).join('.')],
    ['six parts', /parts/, (jwe) => `${jwe}.x`],
    ['another algorithm', /algorithm/, changed({ alg: 'ECDH-ES+A256KW' })],
    ['the algorithm "dir"', /algorithm/, changed({ alg: 'dir' })],
    ['another encryption', /algorithm/, changed({ enc: 'A128GCM' })],
    ['compression', /extension/, changed({ zip: 'DEF' })],
    ['a critical extension', /extension/, changed({ crit: ['exp'], exp: 1 })],
    ['no key named', /kid/, changed({ kid: undefined })],
    ['a number as kid', /kid/, changed({ kid: 1 })],
    ['no sender key', /epk/, changed({ epk: undefined })],
    ['a list as sender key', /epk/, changed({ epk: [] })],
    ['text as sender key', /epk/, changed({ epk: 'key' })],
    ['null as sender key', /epk/, changed({ epk: null })],
    ['a sender key of another kind', /epk/, epk({ kty: 'OKP' })],
    ['a sender key of another curve', /epk/, epk({ crv: 'P-384' })],
    ['a coordinate that is cut short', /epk/, epk({ x: 'AAAA' })],
    ['a coordinate that is too long', /epk/, epk({ x: 'A'.repeat(44) })],
    ['a coordinate that is a number', /epk/, epk({ y: 1 })],
    ['a coordinate in a list', /epk/, epk({ y: ['A'.repeat(43)] })],
    ['a point that is not on the curve', /./, epk({ x: 'A'.repeat(43), y: 'A'.repeat(43) })],
    ['a party that is a number', /party/, changed({ apu: 1 })],
    ['a party that is not base64url', /base64url/, changed({ apv: 'a b' })],
    ['a list as header', /header/, (jwe) => withHeader(jwe, () => [])],
    ['null as header', /header/, (jwe) => withHeader(jwe, () => null)],
    ['a header that is not JSON', /JSON/, withPart(0, () => 'abcd')],
    ['a wrapped key', /wrapped key/, withPart(1, () => 'AAAA')],
    ['a nonce of 16 bytes', /nonce or tag/, withPart(2, () => 'A'.repeat(22))],
    ['no nonce', /nonce or tag/, withPart(2, () => '')],
    ['a tag that is cut short', /nonce or tag/, withPart(4, (tag) => tag.slice(0, 6))],
    ['padding', /base64url/, withPart(4, (tag) => `${tag}==`)],
    ['a line break', /base64url/, withPart(3, (text) => `${text}\n`)],
  ])('with %s is rejected', async (_, reason, change) => {
    const jwe = await encrypt('card');
    expect(open(jwe)).toBe('card');
    expect(() => open(change(jwe))).toThrow(reason);
  });
});

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CardFingerprints } from './card-fingerprints.js';

const [KEY, OTHER_KEY] = ['A'.repeat(42) + 'A', 'B'.repeat(42) + 'A'] as const;
const CARD = '4242424242424242';
const fingerprintsWith = (keys: string) => new CardFingerprints({ SVC_CARD_FINGERPRINT_KEYS: keys });
const fingerprints = fingerprintsWith(KEY);

test('the hash of a card depends on its number, the mode and the key, and contains no digit group of the number', () => {
  const { card, range, otherCard } = fingerprints.ofCard('live', CARD);
  expect(card).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(range).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(otherCard).toBeUndefined();
  const others = [
    fingerprints.ofCard('live', '4000000000000002').card,
    fingerprints.ofCard('test', CARD).card,
    fingerprintsWith(OTHER_KEY).ofCard('live', CARD).card,
    range,
  ];
  expect(others).not.toContain(card);
  expect(fingerprints.ofCard('live', CARD)).toEqual({ card, range, otherCard });
});

test('two cards of a range have the same hash of the range', () => {
  expect(fingerprints.ofCard('live', '4242424299999999').range).toBe(fingerprints.ofCard('live', CARD).range);
  expect(fingerprints.ofCard('live', '4242424399999999').range).not.toBe(fingerprints.ofCard('live', CARD).range);
  expect(fingerprints.ofRange('live', '42424242')).toBe(fingerprints.ofCard('live', CARD).range);
});

test('during a rotation new hashes have the first key, and the hash with the other key is known', () => {
  const rotating = fingerprintsWith(`${OTHER_KEY},${KEY}`);
  expect(rotating.ofCard('live', CARD)).toMatchObject({
    card: fingerprintsWith(OTHER_KEY).ofCard('live', CARD).card,
    otherCard: fingerprints.ofCard('live', CARD).card,
  });
});

test.each([
  ['192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8::1', '2001:0db8:0:0:ffff::2'],
  ['2001:db8:1:2::', '2001:DB8:1:2:3:4:5:6'],
])('%s and %s are one network', (one, other) => {
  expect(fingerprints.ofAddress('live', one)).toBe(fingerprints.ofAddress('live', other));
});

test.each([
  ['192.0.2.7', '192.0.2.8'],
  ['2001:db8::1', '2001:db8:0:1::1'],
])('%s and %s are two networks', (one, other) => {
  expect(fingerprints.ofAddress('live', one)).not.toBe(fingerprints.ofAddress('live', other));
});

test.each(['', 'unknown', '192.0.2.7, 198.51.100.1', '1.2.3.4.5'])('the address "%s" has no hash', (address) => {
  expect(fingerprints.ofAddress('live', address)).toBeUndefined();
});

test('payers whose address is unknown have one hash of their own in each mode', () => {
  const unknown = fingerprints.ofUnknownAddress('live');
  expect(unknown).toHaveLength(22);
  expect([fingerprints.ofUnknownAddress('test'), fingerprints.ofAddress('live', '::')]).not.toContain(unknown);
});

describe('the keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-fingerprints-'));
  const fileOf = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('can be read from a file', () => {
    const fromFile = new CardFingerprints({ SVC_CARD_FINGERPRINT_KEYS_FILE: fileOf('keys', `${KEY}\n`) });
    expect(fromFile.ofCard('live', CARD)).toEqual(fingerprints.ofCard('live', CARD));
  });

  test.each([
    ['neither variable is set', {}, 'Exactly one of'],
    ['both are set', { SVC_CARD_FINGERPRINT_KEYS: KEY, SVC_CARD_FINGERPRINT_KEYS_FILE: '/x' }, 'Exactly one of'],
    ['the file is missing', { SVC_CARD_FINGERPRINT_KEYS_FILE: join(folder, 'missing') }, 'cannot be read'],
    [
      'the file has no key',
      { SVC_CARD_FINGERPRINT_KEYS_FILE: fileOf('bad', 'secret') },
      'must contain one or two keys',
    ],
    ['a key is there twice', { SVC_CARD_FINGERPRINT_KEYS: `${KEY},${KEY}` }, 'contains a key twice'],
  ])('the service does not start if %s, and the error contains no key', (_, config, message) => {
    expect(() => new CardFingerprints(config)).toThrow(message);
    expect(() => new CardFingerprints(config)).not.toThrow(/secret|AAAA/);
  });
});

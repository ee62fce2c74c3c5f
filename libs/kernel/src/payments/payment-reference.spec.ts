import fc from 'fast-check';
import { newPaymentReference, parsePaymentReference } from './payment-reference.js';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const times = fc.date({ min: new Date(0), max: new Date('2900-01-01'), noInvalidDate: true });

test('a new reference reads back, in either case', () => {
  fc.assert(
    fc.property(times, (now) => {
      const reference = newPaymentReference(now);
      expect(reference).toMatch(/^[0-9A-HJKMNP-TV-Z]{18}$/);
      expect(parsePaymentReference(reference)).toBe(reference);
      expect(parsePaymentReference(reference.toLowerCase())).toBe(reference);
    }),
  );
});

test('every single wrong character is noticed', () => {
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: 17 }), fc.integer({ min: 1, max: 31 }), (now, at, shift) => {
      const reference = newPaymentReference(now);
      const wrong = ALPHABET.charAt((ALPHABET.indexOf(reference.charAt(at)) + shift) % 32);
      expect(parsePaymentReference(reference.slice(0, at) + wrong + reference.slice(at + 1))).toBeUndefined();
    }),
  );
});

// The check characters were computed by another program, not with the code under test.
const REFERENCES = [
  '1H2J3K4M5N6P7Q8R92',
  'ZYXWVTSRQPNMKJHGF2',
  '00000000000000001Y',
  'FFFFFFFFFFFFFFFF0R',
  '000000000000000000',
];

test.each(REFERENCES)('%s has the right check character', (reference) => {
  expect(parsePaymentReference(reference)).toBe(reference);
});

test('a reference begins with its time in seconds', () => {
  expect(newPaymentReference(new Date('2026-03-01T10:00:00.999Z')).slice(0, 7)).toBe('1MT83H0');
  expect(newPaymentReference(new Date('2026-03-01T10:00:01.000Z')).slice(0, 7)).toBe('1MT83H1');
});

test('references of later seconds sort later', () => {
  fc.assert(
    fc.property(times, times, (one, other) => {
      const [a, b] = [newPaymentReference(one), newPaymentReference(other)];
      const [first, second] = [one, other].map((time) => Math.floor(time.getTime() / 1_000)) as [number, number];
      // Of the same second the rest is chance.
      fc.pre(first !== second);
      expect(a < b).toBe(first < second);
    }),
  );
});

test('a character too many makes it none, even where the check character fits', () => {
  for (const character of ALPHABET) expect(parsePaymentReference(REFERENCES[0] + character)).toBeUndefined();
  for (const character of ALPHABET) expect(parsePaymentReference(character + REFERENCES[0])).toBeUndefined();
});

test('a ligature of two letters is not these letters', () => {
  expect(parsePaymentReference('FFFFFFFFFFFFFFFF0R'.replace('FF', 'ﬀ'))).toBeUndefined();
});

test.each(['', 'x', 'I00000000000000000', '0'.repeat(17), '0'.repeat(19), 'ﬀ'.repeat(9)])(
  '%j is not a payment reference',
  (text) => {
    expect(parsePaymentReference(text)).toBeUndefined();
  },
);

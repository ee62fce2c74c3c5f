import fc from 'fast-check';
import { newPaymentReference, parsePaymentReference } from './payment-reference.js';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const times = fc.date({ min: new Date(0), max: new Date('2900-01-01'), noInvalidDate: true });

test('a new reference is parsed in upper and in lower case', () => {
  fc.assert(
    fc.property(times, (now) => {
      const reference = newPaymentReference(now);
      expect(reference).toMatch(/^[0-9A-HJKMNP-TV-Z]{18}$/);
      expect(parsePaymentReference(reference)).toBe(reference);
      expect(parsePaymentReference(reference.toLowerCase())).toBe(reference);
    }),
  );
});

test('a reference with one wrong character is rejected', () => {
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: 17 }), fc.integer({ min: 1, max: 31 }), (now, index, shift) => {
      const reference = newPaymentReference(now);
      const wrong = ALPHABET.charAt((ALPHABET.indexOf(reference.charAt(index)) + shift) % 32);
      expect(parsePaymentReference(reference.slice(0, index) + wrong + reference.slice(index + 1))).toBeUndefined();
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

test.each(REFERENCES)('the check character of %s is accepted', (reference) => {
  expect(parsePaymentReference(reference)).toBe(reference);
});

test('a reference begins with its time in seconds', () => {
  expect(newPaymentReference(new Date('2026-03-01T10:00:00.999Z')).slice(0, 7)).toBe('1MT83H0');
  expect(newPaymentReference(new Date('2026-03-01T10:00:01.000Z')).slice(0, 7)).toBe('1MT83H1');
});

test('the reference of a later second sorts after the reference of an earlier second', () => {
  fc.assert(
    fc.property(times, times, (time1, time2) => {
      const [a, b] = [newPaymentReference(time1), newPaymentReference(time2)];
      const [first, second] = [time1, time2].map((time) => Math.floor(time.getTime() / 1_000)) as [number, number];
      // References of the same second are in random order.
      fc.pre(first !== second);
      expect(a < b).toBe(first < second);
    }),
  );
});

test('a reference with an additional character is rejected, even if the check character is correct', () => {
  for (const character of ALPHABET) expect(parsePaymentReference(REFERENCES[0] + character)).toBeUndefined();
  for (const character of ALPHABET) expect(parsePaymentReference(character + REFERENCES[0])).toBeUndefined();
});

test('a reference in which a ligature replaces two letters is rejected', () => {
  expect(parsePaymentReference('FFFFFFFFFFFFFFFF0R'.replace('FF', 'ﬀ'))).toBeUndefined();
});

test.each(['', 'x', 'I00000000000000000', '0'.repeat(17), '0'.repeat(19), 'ﬀ'.repeat(9)])(
  '%j is not a payment reference',
  (text) => {
    expect(parsePaymentReference(text)).toBeUndefined();
  },
);

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

test('references of later seconds sort later', () => {
  const [earlier, later] = [newPaymentReference(new Date(1_000_000)), newPaymentReference(new Date(1_001_000))];
  expect([later, earlier].sort()).toEqual([earlier, later]);
});

test.each(['', 'x', 'I00000000000000000', '0'.repeat(17), '0'.repeat(19), 'ﬀ'.repeat(9)])(
  '%j cannot be one',
  (text) => {
    expect(parsePaymentReference(text)).toBeUndefined();
  },
);

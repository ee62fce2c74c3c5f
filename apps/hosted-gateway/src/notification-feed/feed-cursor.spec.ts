import fc from 'fast-check';
import { decodeCursor, encodeCursor, START_CURSOR } from './feed-cursor.js';

test('an encoded cursor is decoded to the same position', () => {
  const cursors = fc.record({
    txid: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    position: fc.integer({ min: 0, max: 999_999_999_999_999 }),
  });
  fc.assert(fc.property(cursors, (cursor) => expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor)));
});

// Merchants store cursors. If the encoding changed, their stored cursors would be rejected.
test.each([
  [START_CURSOR, '1.0.0'],
  [{ txid: '18446744073709551615', position: 999_999_999_999_999 }, '1.18446744073709551615.999999999999999'],
])('the cursor %j is encoded as base64url of %s', (cursor, text) => {
  const encoded = Buffer.from(text).toString('base64url');
  expect([encodeCursor(cursor), decodeCursor(encoded)]).toEqual([encoded, cursor]);
});

test.each([
  '',
  '1.2.3',
  Buffer.from('2.5.1').toString('base64url'),
  Buffer.from('1.-5.1').toString('base64url'),
  Buffer.from('1.5').toString('base64url'),
  Buffer.from('1.5.1.1').toString('base64url'),
  Buffer.from('1.05.1').toString('base64url') + '=',
  Buffer.from('1.18446744073709551616.1').toString('base64url'),
  Buffer.from(`1.5.${'9'.repeat(16)}`).toString('base64url'),
  encodeCursor({ txid: '5', position: 1 }).slice(0, -1),
  `${encodeCursor({ txid: '5', position: 1 })}AAAA`,
  'x'.repeat(10_000),
])('the text %s is rejected as a cursor', (text) => {
  expect(decodeCursor(text)).toBeUndefined();
});

test('decoding any text returns undefined, or a cursor whose encoding is that text', () => {
  const similarToCursor = fc
    .stringMatching(/^1\.\d{1,21}\.\d{1,16}$/)
    .map((text) => Buffer.from(text).toString('base64url'));
  const counts = { cursors: 0, rejected: 0 };
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), similarToCursor), (text) => {
      const cursor = decodeCursor(text);
      expect(cursor === undefined || encodeCursor(cursor) === text).toBe(true);
      counts[cursor === undefined ? 'rejected' : 'cursors']++;
    }),
  );
  expect([counts.cursors > 0, counts.rejected > 0]).toEqual([true, true]);
});

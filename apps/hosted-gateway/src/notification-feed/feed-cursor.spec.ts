import fc from 'fast-check';
import { decodeCursor, encodeCursor, START_CURSOR } from './feed-cursor.js';

test('an encoded cursor is decoded to the same position', () => {
  const cursors = fc.record({
    txid: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    position: fc.integer({ min: 0, max: 999_999_999_999_999 }),
  });
  fc.assert(fc.property(cursors, (cursor) => expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor)));
});

// Merchants store cursors: a changed encoding would restart their feeds.
test.each([
  [START_CURSOR, '1.0.0'],
  [{ txid: '18446744073709551615', position: 999_999_999_999_999 }, '1.18446744073709551615.999999999999999'],
])('the cursor %j is encoded as %s', (cursor, text) => {
  const written = Buffer.from(text).toString('base64url');
  expect([encodeCursor(cursor), decodeCursor(written)]).toEqual([written, cursor]);
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
])('%s is not a cursor', (text) => {
  expect(decodeCursor(text)).toBeUndefined();
});

test('any text is either decoded or rejected, without an error', () => {
  const almost = fc.stringMatching(/^1\.\d{1,21}\.\d{1,16}$/).map((text) => Buffer.from(text).toString('base64url'));
  const found = { cursors: 0, others: 0 };
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), almost), (text) => {
      const cursor = decodeCursor(text);
      expect(cursor === undefined || encodeCursor(cursor) === text).toBe(true);
      found[cursor === undefined ? 'others' : 'cursors']++;
    }),
  );
  for (const [what, times] of Object.entries(found)) expect([what, times > 0]).toEqual([what, true]);
});

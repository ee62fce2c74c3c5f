import fc from 'fast-check';
import { type Channel, decodePosition, encodeEventId } from './event-id.js';

const CHANNEL: Channel = { merchantId: 1001, siteId: 5001, mode: 'test' };

test('an id that was created for a position is decoded to the same position', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (position) => {
      expect(decodePosition(CHANNEL, encodeEventId(CHANNEL, position))).toBe(position);
    }),
  );
});

test('an id with the largest numbers consists of at most 80 letters, digits, hyphens and underscores', () => {
  expect(encodeEventId({ merchantId: 999_999_999_999_999, siteId: 999_999_999_999_999, mode: 'live' }, 1)).toMatch(
    /^[A-Za-z0-9_-]{1,80}$/,
  );
});

test.each<Partial<Channel>>([{ merchantId: 1002 }, { siteId: 5002 }, { mode: 'live' }])(
  'an id of another channel, with %j, is invalid',
  (other) => expect(decodePosition(CHANNEL, encodeEventId({ ...CHANNEL, ...other }, 7))).toBeUndefined(),
);

const encodeText = (text: string): string => Buffer.from(text).toString('base64url');
const ID = encodeEventId(CHANNEL, 7);

test.each([
  ['an empty text', ''],
  ['a number', '7'],
  ['two ids', `${ID}, ${ID}`],
  ['an id with a space', ` ${ID}`],
  ['an id with padding', `${ID}=`],
  ['a position with a leading zero', encodeText('1.1001.5001.test.07')],
  ['a negative position', encodeText('1.1001.5001.test.-7')],
  ['a position with 16 digits', encodeText('1.1001.5001.test.9999999999999999')],
  ['another version of the format', encodeText('2.1001.5001.test.7')],
  ['an id with another part', encodeText('1.1001.5001.test.7.8')],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x00]).toString('base64url')],
  ['a position that is no number', encodeText('1.1001.5001.test.NaN')],
  ['a text of a kilobyte', 'A'.repeat(1_024)],
])('%s is not a valid id', (_, text) => expect(decodePosition(CHANNEL, text)).toBeUndefined());

test('random text is not a valid id', () => {
  fc.assert(fc.property(fc.string(), (text) => expect(decodePosition(CHANNEL, text)).toBeUndefined()));
});

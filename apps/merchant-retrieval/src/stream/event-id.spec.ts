import fc from 'fast-check';
import { type Channel, encodeEventId, decodePosition } from './event-id.js';

const CHANNEL: Channel = { merchantId: 1001, siteId: 5001, mode: 'test' };

test('an id contains its position, and is valid only for its own channel', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (position) => {
      expect(decodePosition(CHANNEL, encodeEventId(CHANNEL, position))).toBe(position);
    }),
  );
});

test('an id is one line without spaces, whatever it contains', () => {
  expect(encodeEventId({ merchantId: 999_999_999_999_999, siteId: 999_999_999_999_999, mode: 'live' }, 1)).toMatch(
    /^[A-Za-z0-9_-]{1,80}$/,
  );
});

test.each<Partial<Channel>>([{ merchantId: 1002 }, { siteId: 5002 }, { mode: 'live' }])(
  'an id of %j is of no use to another channel',
  (other) => expect(decodePosition(CHANNEL, encodeEventId({ ...CHANNEL, ...other }, 7))).toBeUndefined(),
);

const encodeText = (text: string): string => Buffer.from(text).toString('base64url');
const ID = encodeEventId(CHANNEL, 7);

test.each([
  ['nothing', ''],
  ['a number', '7'],
  ['two ids', `${ID}, ${ID}`],
  ['an id with a space', ` ${ID}`],
  ['an id with padding', `${ID}=`],
  ['a leading zero', encodeText('1.1001.5001.test.07')],
  ['a negative position', encodeText('1.1001.5001.test.-7')],
  ['a position that is no number of ours', encodeText('1.1001.5001.test.9999999999999999')],
  ['another version', encodeText('2.1001.5001.test.7')],
  ['more than an id', encodeText('1.1001.5001.test.7.8')],
  ['other bytes', Buffer.from([0xff, 0xfe, 0x00]).toString('base64url')],
  ['no number', encodeText('1.1001.5001.test.NaN')],
  ['a kilobyte', 'A'.repeat(1_024)],
])('%s is not an id', (_, text) => expect(decodePosition(CHANNEL, text)).toBeUndefined());

test('random text is not an id', () => {
  fc.assert(fc.property(fc.string(), (text) => expect(decodePosition(CHANNEL, text)).toBeUndefined()));
});

import { interpretTimelineQuery, parseTimelineQuery, rangeOf } from './timeline-query.js';

const CODES_URL = 'https://pay.svc.example';
const kindsOf = (find: string, day?: string): string[] =>
  interpretTimelineQuery({ find, day }, CODES_URL).map(({ kind, value }) => `${kind} ${value}`);

test.each([
  ['INV 2026/17', ['order INV 2026/17']],
  [
    '0B6C3F4E-6F2A-4C3B-9D1E-7A8B9C0D1E2F',
    ['payable 0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f', 'order 0B6C3F4E-6F2A-4C3B-9D1E-7A8B9C0D1E2F'],
  ],
  ['55555555550000000001', ['code 55555555550000000001', 'order 55555555550000000001']],
  ['5555 5555 5500 0000 0001', ['code 55555555550000000001', 'order 5555 5555 5500 0000 0001']],
  [`${CODES_URL}/c/55555555550000000001`, ['code 55555555550000000001', `order ${CODES_URL}/c/55555555550000000001`]],
  ['x'.repeat(101), []],
])('%p is searched as %p', (find, expected) => {
  expect(kindsOf(find)).toEqual(expected);
});

test.each(['4242', '**** 4242', '****4242'])('%p is the end of a card only together with a day', (find) => {
  expect(kindsOf(find)).toEqual([`order ${find}`]);
  expect(kindsOf(find, '2026-03-01')).toEqual(['card 4242', `order ${find}`]);
});

test('a query is trimmed, and its day and mode are optional', () => {
  const none = { day: undefined, mode: undefined };
  expect(parseTimelineQuery({ find: ' order-17 ', ...none })).toEqual({ find: 'order-17', ...none });
  const all = { find: 'order-17', day: '2028-02-29', mode: 'live' };
  expect(parseTimelineQuery(all)).toEqual(all);
});

test.each([
  ['find', { find: undefined }],
  ['find', { find: ' ' }],
  ['find', { find: 'x'.repeat(201) }],
  ['find', { find: 'a\0b' }],
  ['find', { find: ['a', 'b'] }],
  ['day', { find: 'a', day: '' }],
  ['day', { find: 'a', day: '2026-02-30' }],
  ['day', { find: 'a', day: '2026-3-1' }],
  ['day', { find: 'a', day: ['2026-03-01'] }],
  ['mode', { find: 'a', mode: 'both' }],
])('the parameter %s is refused: %p', (field, query) => {
  expect(() => parseTimelineQuery({ day: undefined, mode: undefined, ...query })).toThrow(
    expect.objectContaining({ code: 'request.invalid', fields: [expect.objectContaining({ field })] }),
  );
});

test('a day ends before the first time of the next day', () => {
  const { from, until } = rangeOf({ day: '2026-02-28' });
  expect([from.toISOString(), until.toISOString()]).toEqual(['2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z']);
});

import { LocalCalendar } from '@svc/kernel';
import { parseSettlementRange, type RequestedDays } from './settlement-range.js';

const CALENDAR = new LocalCalendar([{ zone: 'Africa/Johannesburg' }]);
const NOW = new Date('2026-03-01T21:59:59.999Z');
const parse = (days: RequestedDays, now = NOW) => parseSettlementRange(days, CALENDAR, now);
const expectRejection = (days: RequestedDays, field: string, message: RegExp) =>
  expect(() => parse(days)).toThrow(
    expect.objectContaining({
      code: 'request.invalid',
      fields: [{ field, message: expect.stringMatching(message) }],
    }),
  );

test('one day begins and ends at the merchant’s midnights, and can be the current day', () => {
  const [start, end] = [new Date('2026-02-28T22:00:00.000Z'), new Date('2026-03-01T22:00:00.000Z')];
  const day = { from: '2026-03-01', to: '2026-03-01', start, end };
  expect(parse({ day: '2026-03-01' })).toEqual(day);
  expect(parse({ from: '2026-03-01', to: undefined })).toEqual(day);
  expect(parse({ from: '2026-03-01', to: '2026-03-01' })).toEqual(day);
});

test('a range begins with its first day and ends with its last day', () => {
  expect(parse({ from: '2026-02-01', to: '2026-02-28' })).toEqual({
    ...{ from: '2026-02-01', to: '2026-02-28' },
    ...{ start: new Date('2026-01-31T22:00:00.000Z'), end: new Date('2026-02-28T22:00:00.000Z') },
  });
});

test.each(['2026-02-29', '2026-13-01', '2026-3-1', '20260301', ' 2026-03-01', '', 20260301, ['2026-03-01'], undefined])(
  'a day cannot be %p',
  (value) => {
    expectRejection({ day: value }, 'day', /must be a date/);
    expectRejection({ from: value, to: '2026-03-01' }, 'from', /must be a date/);
    if (value !== undefined) expectRejection({ from: '2026-03-01', to: value }, 'to', /must be a date/);
  },
);

test('each day must have begun in the merchant’s time zone', () => {
  const midnight = new Date('2026-03-01T22:00:00.000Z');
  expect(parse({ day: '2026-03-02' }, midnight).from).toBe('2026-03-02');
  expectRejection({ day: '2026-03-02' }, 'day', /has begun in Africa\/Johannesburg/);
  expectRejection({ from: '2026-03-02', to: '2026-03-02' }, 'from', /has begun/);
  expectRejection({ from: '2026-03-01', to: '2026-03-02' }, 'to', /has begun/);
});

test('a day must not be before 2000', () => {
  expect(parse({ day: '2000-01-01' }).start).toEqual(new Date('1999-12-31T22:00:00.000Z'));
  expectRejection({ day: '1999-12-31' }, 'day', /has begun/);
});

test('a range has one to 366 days', () => {
  expect(parse({ from: '2025-03-01', to: '2026-03-01' }).to).toBe('2026-03-01');
  expectRejection({ from: '2025-02-28', to: '2026-03-01' }, 'to', /within 366 days/);
  expectRejection({ from: '2026-02-02', to: '2026-02-01' }, 'to', /not be before/);
});

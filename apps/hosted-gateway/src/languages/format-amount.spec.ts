import fc from 'fast-check';
import { formatAmount, formatTime } from './format-amount.js';
import { getLanguage, LANGUAGES } from './languages.js';

const findFormat = (tag: Parameters<typeof getLanguage>[0]) => getLanguage(tag).messages.format;

describe('formatAmount', () => {
  it.each([
    [12345, 'en', 'R 123.45'],
    [5, 'en', 'R 0.05'],
    [0, 'en', 'R 0.00'],
    [123456789, 'en', 'R 1 234 567.89'],
    [100_000_000_000, 'en', 'R 1 000 000 000.00'],
    [123456789, 'af', 'R 1 234 567,89'],
    [123456789, 'zu', 'R 1 234 567.89'],
    [123456789, 'xh', 'R 1 234 567.89'],
    [123456789, 'st', 'R 1 234 567.89'],
  ] as const)('formats %d cents in language %s as "%s"', (cents, tag, text) => {
    expect(formatAmount(cents, 'ZAR', findFormat(tag))).toBe(text);
  });

  it('uses the symbol of the currency', () => expect(formatAmount(12345, 'EUR', findFormat('af'))).toBe('€123,45'));

  it('shows every cent in every language', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100_000_000_000 }),
        fc.constantFrom(...LANGUAGES),
        (cents, { messages }) => {
          expect(Number(formatAmount(cents, 'ZAR', messages.format).replace(/\D/g, ''))).toBe(cents);
        },
      ),
    );
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '12345' as never])(
    'rejects %p, which is not a whole number of cents from 0',
    (cents) => {
      expect(() => formatAmount(cents, 'ZAR', findFormat('en'))).toThrow(
        expect.objectContaining({ name: 'RangeError', message: 'amountCents must be whole cents' }),
      );
    },
  );
});

describe('formatTime', () => {
  const time = '2026-11-20T23:30:00.000Z';

  it.each([
    ['en', '20 November 2026 at 23:30 UTC'],
    ['af', '20 November 2026 om 23:30 UTC'],
    ['zu', '20 Novemba 2026 ngo-23:30 UTC'],
    ['xh', '20 Novemba 2026 ngo-23:30 UTC'],
    ['st', '20 Pudungwana 2026 ka 23:30 UTC'],
  ] as const)('formats a time in language %s as "%s"', (tag, text) =>
    expect(formatTime(time, findFormat(tag), 'UTC')).toBe(text),
  );

  it('converts a time to the time zone of the argument, and shows midnight as 00', () => {
    expect(formatTime(time, findFormat('en'), 'Africa/Johannesburg')).toBe('21 November 2026 at 01:30 SAST');
    expect(formatTime('2026-01-02T22:05:00.000Z', findFormat('en'), 'Africa/Johannesburg')).toBe(
      '3 January 2026 at 00:05 SAST',
    );
  });

  it.each([
    ['Asia/Kathmandu', '21 November 2026 at 05:15 GMT+5:45'],
    ['America/New_York', '20 November 2026 at 18:30 GMT-5'],
    // A zone that this browser does not know.
    ['Africa/Pretoria', '20 November 2026 at 23:30 UTC'],
  ])('shows the offset of the zone %s: %s', (zone, text) => {
    expect(formatTime(time, findFormat('en'), zone)).toBe(text);
  });
});

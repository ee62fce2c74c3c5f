import fc from 'fast-check';
import { formatAmount, formatTime } from './format-amount.js';

describe('formatAmount', () => {
  it.each([
    [12345, 'en-ZA', 'R 123.45'],
    [12345, 'en', 'R 123.45'],
    [12345, 'en-US', 'R 123.45'],
    [5, 'en-ZA', 'R 0.05'],
    [0, 'en-ZA', 'R 0.00'],
    [100_000_000_000, 'en-ZA', 'R 1,000,000,000.00'],
    [12345, 'de', '123,45 R'],
    [123456789, 'de', '1.234.567,89 R'],
    [12345, 'not a locale!', 'R 123.45'],
    [12345, 'x'.repeat(600), 'R 123.45'],
  ])('%d cents in %s are %s', (cents, locale, shown) => expect(formatAmount(cents, 'ZAR', locale)).toBe(shown));

  it('uses digits every payer can compare with the receipt', () => {
    expect(formatAmount(12345, 'ZAR', 'ar-EG')).toMatch(/123.45/);
  });

  it('loses no cent on the way', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000_000_000 }), (cents) => {
        expect(Number(formatAmount(cents, 'ZAR', 'en').replace(/\D/g, ''))).toBe(cents);
      }),
    );
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '12345' as never])('refuses %p', (cents) => {
    expect(() => formatAmount(cents, 'ZAR', 'en')).toThrow(RangeError);
  });
});

describe('formatTime', () => {
  const time = '2026-11-20T23:30:00.000Z';

  it('is in English, by the region of the payer and the zone asked for', () => {
    expect(formatTime(time, 'en-ZA', 'UTC')).toMatch(/20 November 2026.*23:30.*UTC/);
    expect(formatTime(time, 'en-US', 'UTC')).toMatch(/November 20, 2026/);
    expect(formatTime(time, 'de', 'UTC')).toMatch(/20 November 2026/);
    expect(formatTime(time, 'en-ZA', 'Africa/Johannesburg')).toMatch(/21 November 2026.*01:30/);
  });
});

import fc from 'fast-check';
import { formatExpiry, parseExpiry } from './card-expiry.js';

const now = new Date('2026-11-20T18:03:36.123Z');

describe('parseExpiry', () => {
  it.each([
    '05 / 27',
    '05/27',
    '0527',
    '5/27',
    '05-27',
    ' 05 / 2027 ',
    ' 2027-05 ',
    '052027',
    '2027-05',
    '05.27',
    '2027/05',
    '2027 / 05',
    '202705',
    '2027-5',
    '527',
    '０５/２７',
  ])('reads %p as May 2027', (text) =>
    expect(parseExpiry(text, now)).toEqual({ ok: true, expiryMonth: 5, expiryYear: 2027 }),
  );

  it.each([
    ['', 'incomplete'],
    ['0', 'incomplete'],
    ['05', 'incomplete'],
    ['05 / 2', 'incomplete'],
    ['05 / 202', 'incomplete'],
    ['May 27', 'incomplete'],
    ['12x27', 'incomplete'],
    ['x12 / 27', 'incomplete'],
    ['12 / 27x', 'incomplete'],
    ['x2027-05', 'incomplete'],
    ['2027', 'incomplete'],
    ['20270', 'incomplete'],
    ['2027-1', 'incomplete'],
    ['2027-0', 'incomplete'],
    ['2027-5-1', 'month'],
    ['202-5-5', 'incomplete'],
    ['130 / 1', 'incomplete'],
    ['20 / 27', 'month'],
    ['2027-13', 'month'],
    ['5', 'incomplete'],
    ['13 / 27', 'month'],
    ['00 / 27', 'month'],
    ['10 / 26', 'past'],
    ['12 / 25', 'past'],
    ['01 / 47', 'far'],
  ])('refuses %p with the problem %s', (text, problem) =>
    expect(parseExpiry(text, now)).toEqual({ ok: false, problem }),
  );

  it('accepts a card until the end of its month, in every time zone of the payer', () => {
    const isAcceptedAt = (time: string) => parseExpiry('11 / 26', new Date(time)).ok;
    expect(isAcceptedAt('2026-11-30T23:59:59.999Z')).toBe(true);
    expect(isAcceptedAt('2026-12-01T11:59:59.999Z')).toBe(true);
    expect(isAcceptedAt('2026-12-01T12:00:00.000Z')).toBe(false);
  });
});

describe('formatExpiry', () => {
  it.each([
    ['', ''],
    ['1', '1'],
    ['12', '12'],
    ['5', '05'],
    ['1/', '01'],
    ['1 ', '1'],
    ['123', '12 / 3'],
    ['12 / ', '12'],
    ['1227', '12 / 27'],
    ['12/2027', '12 / 27'],
    ['12/1999', '12 / 1999'],
    ['2027-12', '12 / 27'],
    ['12 / 202', '12 / 202'],
    ['abc', ''],
    // A first digit 2 may begin February or a year. It is not padded until the next digit shows which of the two it is.
    ['2', '2'],
    ['2/', '02'],
    ['23', '02 / 3'],
    ['230', '02 / 30'],
    ['130', '01 / 30'],
    ['13', '01 / 3'],
    ['13 / 0', '13 / 0'],
    ['20', '20'],
    ['2030', '2030'],
    ['2030-', '2030'],
    ['20301', '20301'],
    ['203012', '12 / 30'],
    ['2030-12', '12 / 30'],
    ['2030/12', '12 / 30'],
  ])('formats %p as %p', (typed, formatted) => expect(formatExpiry(typed)).toBe(formatted));

  it('formats every month of the next twenty years so that parsing returns the same month', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 2027, max: 2046 }), (month, year) => {
        const typed = String(month).padStart(2, '0') + String(year).slice(2);
        const formatted = formatExpiry(typed);
        expect(parseExpiry(formatted, now)).toEqual({ ok: true, expiryMonth: month, expiryYear: year });
        expect(formatExpiry(formatted)).toBe(formatted);
      }),
    );
  });

  // A separator at the end would block the backspace key: the formatter would append it again.
  it('never throws, never changes the parsed date or its own output, and never ends in a separator', () => {
    const typed = fc.string({ unit: fc.constantFrom(...'0123456789/- '), maxLength: 9 });
    const resultCounts = { empty: 0, monthOnly: 0, monthAndYear: 0 };
    fc.assert(
      fc.property(fc.oneof(fc.string(), typed), (text) => {
        const expiry = formatExpiry(text);
        expect(expiry).toMatch(/^(20\d{1,3}|\d{1,2}( \/ \d{1,4})?)?$/);
        expect([text, parseExpiry(expiry, now)]).toEqual([text, parseExpiry(text, now)]);
        expect([text, formatExpiry(expiry)]).toEqual([text, expiry]);
        resultCounts[expiry === '' ? 'empty' : expiry.includes('/') ? 'monthAndYear' : 'monthOnly']++;
      }),
      { numRuns: 3_000 },
    );
    // Each kind of result occurred, so the property was tested for each kind.
    for (const [kind, count] of Object.entries(resultCounts)) expect([kind, count > 0]).toEqual([kind, true]);
  });
});

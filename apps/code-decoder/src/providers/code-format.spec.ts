import { type CodeFormat, type CodeFragments, matchCodeFormat } from './code-format.js';

/** Parts of addresses. A code that contains one of them was issued by this service or by a known provider. */
const FRAGMENTS: CodeFragments = {
  hosts: ['pay.svc.example/c/', 'qr.tapp.example', 'a+b.example?'],
  shortLinks: ['.zq.example', '@sl'],
};
const TWENTY_DIGITS = '12345678901234567890';

/** Codes, each with the format of the specification that it matches, or undefined if it matches no format. */
const CODES: readonly (readonly [string, CodeFormat | undefined])[] = [
  // Format 1: contains one of FRAGMENTS.hosts
  [`https://pay.svc.example/c/${TWENTY_DIGITS}`, 'host'],
  [`http://pay.svc.example/c/${TWENTY_DIGITS}?x=1`, 'host'],
  ['pay.svc.example/c/', 'host'],
  [`  https://pay.svc.example/c/${TWENTY_DIGITS}\n`, 'host'],
  ['https://qr.tapp.example/9', 'host'],
  ['qr.tapp.example', 'host'],
  ['xxxqr.tapp.examplexxx', 'host'],
  ['intent://scan?u=https%3A%2F%2Fqr.tapp.example', 'host'],
  ['00qr.tapp.example', 'host'],
  ['https://a+b.example?q', 'host'],
  ['ab/cdef/qr.tapp.example12345', 'host'],
  ['https://PAY.SVC.EXAMPLE/c/1', undefined],
  ['https://pay.svc.example/d/1', undefined],
  ['https://paysvc.example/c/1', undefined],
  ['https://qrxtapp.example/9', undefined],
  ['https://aab.example', undefined],
  ['https://pay.svc.example/c/1\nsecond line', undefined],
  ['first line\r\nqr.tapp.example', undefined],
  ['qr.tapp.example\u2028x', undefined],
  // Format 2: .{2}/.{4}/.{20}
  [`ab/cdef/${TWENTY_DIGITS}`, 'two-four-twenty'],
  ['  ab/cdef/ghijklmnopqrstuvwxyz  ', 'two-four-twenty'],
  ['??/    /////////////////////', 'two-four-twenty'],
  [`é€/äöüß/${'ß'.repeat(20)}`, 'two-four-twenty'],
  ['12/3456/SK-1-23456789012345', undefined],
  ['12/3456/SK-1-234567890123456', 'two-four-twenty'],
  [`a/cdef/${TWENTY_DIGITS}`, undefined],
  [`abc/cdef/${TWENTY_DIGITS}`, undefined],
  [`ab/cde/${TWENTY_DIGITS}`, undefined],
  [`ab/cdef/${TWENTY_DIGITS}1`, undefined],
  [`ab/cdef/${TWENTY_DIGITS.slice(1)}`, undefined],
  ['ab/cdef/123456789\n0123456789', undefined],
  ['ab/cd\nf/12345678901234567890', undefined],
  // Format 3: SK-<digits>-<23 digits>
  ['SK-1-12345678901234567890123', 'sk'],
  ['SK-0-00000000000000000000000', 'sk'],
  [`SK-${'9'.repeat(500)}-12345678901234567890123`, 'sk'],
  ['\tSK-42-12345678901234567890123 ', 'sk'],
  ['SK--12345678901234567890123', undefined],
  ['SK-1-1234567890123456789012', undefined],
  ['SK-1-123456789012345678901234', undefined],
  ['sk-1-12345678901234567890123', undefined],
  ['SK-1a-12345678901234567890123', undefined],
  ['xSK-1-12345678901234567890123', undefined],
  ['SK-1-12345678901234567890123x', undefined],
  ['SK-1-1-12345678901234567890123', undefined],
  // Format 4: twenty digits
  [TWENTY_DIGITS, 'twenty-digits'],
  ['00000000000000000000', 'twenty-digits'],
  [` ${TWENTY_DIGITS} `, 'twenty-digits'],
  [TWENTY_DIGITS.slice(1), undefined],
  [`${TWENTY_DIGITS}1`, undefined],
  ['1234567890 1234567890', undefined],
  ['1234567890123456789x', undefined],
  ['٠١٢٣٤٥٦٧٨٩٠١٢٣٤٥٦٧٨٩', undefined],
  ['-1234567890123456789', undefined],
  // Format 5: CRSTPC- and five groups of digits
  ['CRSTPC-1-2-3-4-5', 'crstpc'],
  ['CRSTPC-001-22-333-4444-55555', 'crstpc'],
  [`CRSTPC-${'1'.repeat(300)}-2-3-4-5`, 'crstpc'],
  ['CRSTPC-1-2-3-4', undefined],
  ['CRSTPC-1-2-3-4-5-6', undefined],
  ['CRSTPC-1-2-3-4-', undefined],
  ['CRSTPC--2-3-4-5', undefined],
  ['xCRSTPC-1-2-3-4-5', undefined],
  ['CRSTPC1-2-3-4-5', undefined],
  ['crstpc-1-2-3-4-5', undefined],
  ['CRSTPC-1-2-3-4-x', undefined],
  // Format 6: contains digits, followed by one of FRAGMENTS.shortLinks
  ['https://go.example/123.zq.example', 'short-link'],
  ['7.zq.example', 'short-link'],
  ['0.zq.example', 'short-link'],
  ['1@sl', 'short-link'],
  ['x@sl 2@sl', 'short-link'],
  ['99.zq.example/abc?d', 'short-link'],
  ['.zq.example', undefined],
  ['a.zq.example', undefined],
  ['1 .zq.example', undefined],
  ['123.zq-example', undefined],
  ['https://zq.example/123', undefined],
  ['1.zq.example\nx', undefined],
  // No format
  ['', undefined],
  ['   ', undefined],
  ['hello', undefined],
  ['00020101021126580009za.co.bank0121', undefined],
  ['https://shop.example/product/12', undefined],
  ['BEGIN:VCARD', undefined],
  ['💳'.repeat(10), undefined],
];

test('the table of codes has at least sixty codes, and codes for each of the six formats and for no format', () => {
  expect(CODES.length).toBeGreaterThanOrEqual(60);
  expect(new Set(CODES.map(([, format]) => format)).size).toBe(7);
});

test.each(CODES)('the code %j has the format %s', (code, format) =>
  expect(matchCodeFormat(code, FRAGMENTS)).toBe(format),
);

/** Whether the code matches one of the six patterns of the specification. */
function matchesSpecification(code: string): boolean {
  const joinEscaped = (fragments: readonly string[]): string =>
    fragments.map((fragment) => fragment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return [
    `^.*(?:${joinEscaped(FRAGMENTS.hosts)}).*$`,
    '^.{2}/.{4}/.{20}$',
    '^SK-\\d+-\\d{23}$',
    '^\\d{20}$',
    '^CRSTPC-\\d+-\\d+-\\d+-\\d+-\\d+$',
    `^.*\\d+(?:${joinEscaped(FRAGMENTS.shortLinks)}).*$`,
  ].some((pattern) => new RegExp(pattern).test(code.trim()));
}

test.each(CODES.map(([code]) => code))(
  'matchCodeFormat recognises %j if and only if a pattern of the specification matches it',
  (code) => {
    expect(matchCodeFormat(code, FRAGMENTS) !== undefined).toBe(matchesSpecification(code));
  },
);

/** Texts that take quadratic time or worse if a pattern can match the same characters in two ways. */
const ADVERSARIAL: readonly (readonly [string, (length: number) => string])[] = [
  ['digits', (length) => '1'.repeat(length)],
  ['digits and an x', (length) => `${'1'.repeat(length - 1)}x`],
  ['SK- and digits', (length) => `SK-${'1'.repeat(length - 3)}`],
  ['many groups of digits', (length) => `CRSTPC${'-1'.repeat(length / 2)}`.slice(0, length)],
  ['incomplete hosts', (length) => 'qr.tapp.exampl'.repeat(length).slice(0, length)],
  ['incomplete short links', (length) => '1.zq.exampl'.repeat(length).slice(0, length)],
  ['short links without digits', (length) => 'x.zq.example'.repeat(length).slice(0, length)],
  ['digits before an incomplete short link', (length) => `${'1'.repeat(length - 4)}.zq.`],
  ['slashes', (length) => '/'.repeat(length)],
  ['blanks around one character', (length) => `${' '.repeat(length / 2)}x${' '.repeat(length / 2)}`],
  ['blanks between two characters', (length) => `x${' '.repeat(length - 2)}x`],
];

/** The time of the fastest of 40 runs: other load on the machine can only make a run slower. */
function fastestMs(text: string): number {
  let fastest = Infinity;
  for (let run = 0; run < 40; run++) {
    const startedAt = performance.now();
    matchCodeFormat(text, FRAGMENTS);
    fastest = Math.min(fastest, performance.now() - startedAt);
  }
  return fastest;
}

test.each(ADVERSARIAL)(
  'matching 2 KiB of %s takes less than a millisecond, and the time grows linearly',
  (_, createText) => {
    expect(fastestMs(createText(2_048))).toBeLessThan(1);
    // The text is 64 times as long: linear time is 64 times as much, quadratic time 4 096 times. The factor 4 is a
    // tolerance. 5 µs are added, because 2 KiB may take less than the resolution of the clock.
    expect(fastestMs(createText(131_072))).toBeLessThan(64 * 4 * (fastestMs(createText(2_048)) + 0.005));
  },
);

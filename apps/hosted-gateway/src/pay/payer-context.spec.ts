import { payerContextOf } from './payer-context.js';

const HEADERS = { accept: 'text/html, */*;q=0.8', 'user-agent': 'Mozilla/5.0 (X11) Gecko/20100101' };
const BROWSER = {
  language: 'en-ZA',
  screenWidth: 1440,
  screenHeight: 900,
  colorDepth: 24,
  timeZoneOffsetMinutes: -120,
};
const of = (browser: unknown, headers: Record<string, string> = HEADERS) =>
  payerContextOf({ ip: '203.0.113.7', headers }, browser);

test('the context contains the address, the headers and the browser data of the script', () => {
  expect(of(BROWSER)).toEqual({
    address: '203.0.113.7',
    browser: {
      acceptHeader: 'text/html, */*;q=0.8',
      userAgent: 'Mozilla/5.0 (X11) Gecko/20100101',
      ...BROWSER,
      javaScriptEnabled: true,
    },
  });
});

test.each([undefined, null, 'browser', 7, true])(
  'with %j instead of browser data the context contains only the headers',
  (browser) => {
    expect(of(browser)).toEqual({
      address: '203.0.113.7',
      browser: { acceptHeader: HEADERS.accept, userAgent: HEADERS['user-agent'] },
    });
  },
);

test.each<[keyof typeof BROWSER, readonly unknown[], readonly unknown[]]>([
  ['language', ['a', 'x'.repeat(35)], ['', 'x'.repeat(36), 'en\nX: 1', 'en_ZA', 7, null, ['en']]],
  ['screenWidth', [0, 999_999], [-1, 1_000_000, 1.5, '1440', NaN, Infinity, null]],
  ['screenHeight', [0, 999_999], [-1, 1_000_000, 0.1, '900', {}]],
  ['colorDepth', [1, 48], [0, 49, 24.5, '24']],
  ['timeZoneOffsetMinutes', [-840, 0, 840], [-841, 841, 0.5, '-120']],
])('the field %s is included within its limits, and omitted otherwise', (field, kept, leftOut) => {
  for (const value of kept) expect(of({ ...BROWSER, [field]: value }).browser).toMatchObject({ [field]: value });
  const { [field]: _, ...others } = BROWSER;
  for (const value of leftOut) {
    const { browser } = of({ ...BROWSER, [field]: value });
    expect(browser).not.toHaveProperty(field);
    expect(browser).toMatchObject(others);
  }
});

test.each([
  ['203.0.113.7', { address: '203.0.113.7' }],
  ['::ffff:203.0.113.7', { address: '203.0.113.7' }],
  ['2001:db8::7', { address: '2001:db8::7' }],
  ['fe80::7%eth0', { address: 'fe80::7' }],
  ['unknown', {}],
])('the address %s is included if it is valid', (ip, expected) => {
  expect(payerContextOf({ ip, headers: {} }, undefined)).toEqual({ ...expected, browser: {} });
});

test('unknown fields are omitted, and the script cannot override headers', () => {
  const { browser } = of({ ...BROWSER, more: 1, userAgent: 'other', acceptHeader: 'other', javaScriptEnabled: false });
  expect(browser).toEqual(of(BROWSER).browser);
});

test.each(['', 'x'.repeat(2049), 'Mozilla\u0000', 'M\u00f6zilla'])('a header with invalid text is omitted', (text) => {
  expect(of(BROWSER, { accept: text, 'user-agent': text }).browser).toEqual({ ...BROWSER, javaScriptEnabled: true });
  expect(of(BROWSER, { accept: 'x'.repeat(2048) }).browser).toHaveProperty('acceptHeader');
});

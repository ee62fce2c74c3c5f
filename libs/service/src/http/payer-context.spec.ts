import { readPayerContext } from './payer-context.js';

const HEADERS = { accept: 'text/html, */*;q=0.8', 'user-agent': 'Mozilla/5.0 (X11) Gecko/20100101' };
const BROWSER = {
  language: 'en-ZA',
  screenWidth: 1440,
  screenHeight: 900,
  colorDepth: 24,
  timeZoneOffsetMinutes: -120,
};
const buildContext = (browser: unknown, headers: Record<string, string> = HEADERS) =>
  readPayerContext({ ip: '203.0.113.7', headers }, browser);

test('the context contains the IP address, the headers and the browser data of the script', () => {
  expect(buildContext(BROWSER)).toEqual({
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
    expect(buildContext(browser)).toEqual({
      address: '203.0.113.7',
      browser: { acceptHeader: HEADERS.accept, userAgent: HEADERS['user-agent'] },
    });
  },
);

test.each<[field: keyof typeof BROWSER, valid: readonly unknown[], invalid: readonly unknown[]]>([
  ['language', ['a', 'x'.repeat(35)], ['', 'x'.repeat(36), 'en\nX: 1', 'en_ZA', 7, null, ['en']]],
  ['screenWidth', [0, 999_999], [-1, 1_000_000, 1.5, '1440', NaN, Infinity, null]],
  ['screenHeight', [0, 999_999], [-1, 1_000_000, 0.1, '900', {}]],
  ['colorDepth', [1, 48], [0, 49, 24.5, '24']],
  ['timeZoneOffsetMinutes', [-840, 0, 840], [-841, 841, 0.5, '-120']],
])('the context contains valid values of %s, and omits invalid values', (field, validValues, invalidValues) => {
  for (const value of validValues)
    expect(buildContext({ ...BROWSER, [field]: value }).browser).toMatchObject({ [field]: value });
  const { [field]: _, ...others } = BROWSER;
  for (const value of invalidValues) {
    const { browser } = buildContext({ ...BROWSER, [field]: value });
    expect(browser).not.toHaveProperty(field);
    expect(browser).toMatchObject(others);
  }
});

test.each([
  ['203.0.113.7', { address: '203.0.113.7' }],
  ['::ffff:203.0.113.7', { address: '203.0.113.7' }],
  ['2001:db8::7', { address: '2001:db8::7' }],
  // Only an address that begins with ::ffff: and ends with an IPv4 address is a mapped IPv4 address.
  ['::ffff:1234:5678', { address: '::ffff:1234:5678' }],
  ['::ffff:1234', { address: '::ffff:1234' }],
  ['2::ffff:3.0.113.7', { address: '2::ffff:3.0.113.7' }],
  ['fe80::7%eth0', { address: 'fe80::7' }],
  ['unknown', {}],
])('the context of a request from the IP address %s contains %j', (ip, expected) => {
  expect(readPayerContext({ ip, headers: {} }, undefined)).toStrictEqual({ ...expected, browser: {} });
});

test('the context omits unknown fields, and the script cannot override headers', () => {
  const { browser } = buildContext({
    ...BROWSER,
    more: 1,
    userAgent: 'other',
    acceptHeader: 'other',
    javaScriptEnabled: false,
  });
  expect(browser).toEqual(buildContext(BROWSER).browser);
});

test.each(['', 'x'.repeat(2049), 'Mozilla\u0000', 'M\u00f6zilla'])(
  'the context omits a header with the invalid text %j',
  (text) => {
    expect(buildContext(BROWSER, { accept: text, 'user-agent': text }).browser).toEqual({
      ...BROWSER,
      javaScriptEnabled: true,
    });
    expect(buildContext(BROWSER, { accept: 'x'.repeat(2048) }).browser).toHaveProperty('acceptHeader');
  },
);

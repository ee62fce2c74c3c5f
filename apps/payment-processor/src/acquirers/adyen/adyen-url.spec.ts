import { isAdyenUrl } from './adyen-url.js';

const CHECKOUT_URL = {
  test: 'https://checkout-test.adyen.com/v71',
  live: 'https://0123-Company-checkout-live.adyenpayments.com/checkout/v71',
} as const;
const isOf = (mode: 'test' | 'live', url: unknown): boolean =>
  isAdyenUrl(url, { mode, checkoutUrl: CHECKOUT_URL[mode] });

test.each([
  ['test', 'https://ca-test.adyen.com/reports/download/1.csv'],
  ['test', 'https://checkoutshopper-test.adyen.com/checkoutshopper/threeDS/redirect'],
  ['test', 'https://test.adyen.com/'],
  ['test', 'https://checkout-test.adyen.com/'],
  ['live', 'https://ca-live.adyen.com/reports/download/1.csv'],
  ['live', 'https://checkoutshopper-live.adyen.com/'],
  ['live', 'https://checkoutshopper-live-au.adyen.com/'],
  ['live', 'https://live.adyen.com/'],
  ['live', 'https://0123-company-checkout-live.adyenpayments.com/'],
] as const)('in %s mode only, %s is a URL of Adyen', (mode, url) => {
  expect(isOf(mode, url)).toBe(true);
  expect(isOf(mode === 'test' ? 'live' : 'test', url)).toBe(false);
});

test.each(['https://www.adyen.com/', 'https://contest.adyen.com/', 'https://alive.adyen.com/'])(
  '%s is a URL of Adyen in both modes, because its name contains no mode',
  (url) => expect([isOf('test', url), isOf('live', url)]).toEqual([true, true]),
);

test.each([
  ['without TLS', 'http://ca-test.adyen.com/'],
  ['of another company', 'https://ca-test.adyen.com.example/'],
  ['with a user', 'https://user@ca-test.adyen.com/'],
  ['that is too long', `https://ca-test.adyen.com/${'a'.repeat(2_048)}`],
  ['that is malformed', 'adyen'],
  ['that is missing', undefined],
])('a URL %s is not a URL of Adyen', (_, url) => expect(isOf('test', url)).toBe(false));

import { TOTP_PERIOD_SECONDS } from '@svc/contracts';
import { Secret } from 'otpauth';
import { findStep, newTotp } from './totp.js';

/** The secret of the test vectors of RFC 6238, in base32. */
const RFC_SECRET = Secret.fromUTF8('12345678901234567890').base32;

// The RFC has eight digits; an authenticator shows the last six.
test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
])('accepts the code of RFC 6238 for the second %d', (second, code) => {
  const step = Math.floor(second / TOTP_PERIOD_SECONDS);
  expect(findStep(RFC_SECRET, code, new Date(second * 1000))).toBe(step);
});

test('accepts a code in its own, the previous and the next step, and always returns its own step', () => {
  const steps = [-2, -1, 0, 1, 2].map((offset) =>
    findStep(RFC_SECRET, '005924', new Date((1_234_567_890 + offset * TOTP_PERIOD_SECONDS) * 1000)),
  );
  const own = Math.floor(1_234_567_890 / TOTP_PERIOD_SECONDS);
  expect(steps).toEqual([undefined, own, own, own, undefined]);
});

test.each(['', '00592', '0059240', ' 005924', '00592a', '-05924', '٠٠٥٩٢٤'])('refuses %j', (code) => {
  expect(findStep(RFC_SECRET, code, new Date(1_234_567_890_000))).toBeUndefined();
});

test('a new secret has 160 bits, and its URL contains what an authenticator needs', () => {
  const { secret, uri } = newTotp('lindiwe@shop.example');
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const url = new URL(uri);
  expect(decodeURIComponent(url.pathname)).toBe('/Svc Payments:lindiwe@shop.example');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    issuer: 'Svc Payments',
    secret,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
  expect(newTotp('lindiwe@shop.example').secret).not.toBe(secret);
});

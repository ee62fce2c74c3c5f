import { newOwnCode, ownCodeText, parseOwnCode } from './own-code.js';

const CODES_URL = 'https://pay.svc.example:8443';
const CODE = '01234567890123456789';

test('new codes have twenty digits, may begin with zeros, and are all different', () => {
  const codes = Array.from({ length: 2_000 }, () => newOwnCode());
  for (const code of codes) expect(code).toMatch(/^\d{20}$/);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.some((code) => code.startsWith('0'))).toBe(true);
  // A code is composed of two random numbers of ten digits. The second number may begin with a zero too.
  expect(codes.some((code) => code[10] === '0')).toBe(true);
});

test.each([
  ownCodeText(CODE, CODES_URL),
  CODE,
  `http://pay.svc.example:8443/c/${CODE}`,
  `pay.svc.example:8443/c/${CODE}`,
  `HTTPS://PAY.SVC.EXAMPLE:8443/C/${CODE}`,
  `${ownCodeText(CODE, CODES_URL)}/`,
  `${ownCodeText(CODE, CODES_URL)}?utm=poster`,
  `${ownCodeText(CODE, CODES_URL)}#top`,
])('%s is a payment code of this platform', (text) => expect(parseOwnCode(text, CODES_URL)).toBe(CODE));

test.each([
  '',
  `${CODE}0`,
  CODE.slice(1),
  `x${CODE}`,
  `https://pay.svc.example/c/${CODE}`,
  `https://evil.example/pay.svc.example:8443/c/${CODE}`,
  `https://pay.svc.example:8443.evil.example/c/${CODE}`,
  `https://pay.svc.example:8443/d/${CODE}`,
  `https://pay.svc.example:8443/c/${CODE}/more`,
  `https://pay.svc.example:8443/c/${CODE.slice(1)}`,
  `ftp://pay.svc.example:8443/c/${CODE}`,
  `pay.svc.example:8443/c/https://${CODE}`,
  `https://https://pay.svc.example:8443/c/${CODE}`,
  `${ownCodeText(CODE, CODES_URL)}?a\nb`,
  `x\n${ownCodeText(CODE, CODES_URL)}`,
  `https://pay.svc.example:8443/c/0${CODE}`,
  '٠١٢٣٤٥٦٧٨٩٠١٢٣٤٥٦٧٨٩',
])('%j is not a payment code of this platform', (text) => expect(parseOwnCode(text, CODES_URL)).toBeUndefined());

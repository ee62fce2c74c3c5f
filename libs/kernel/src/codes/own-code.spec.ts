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
  ` ${ownCodeText(CODE, CODES_URL)}\r\n`,
  `\u00a0${CODE}\ufeff`,
  `${ownCodeText(CODE, CODES_URL)} / ?utm=poster`,
  `${CODES_URL}/c/%20${CODE}%09%0d%0A%C2%A0`,
  `%20${CODE}%20`,
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
  `https://pay.svc.example:8443/c/${CODE}//`,
  `https://pay.svc.example:8443/c/${CODE.slice(1)} ${CODE.slice(-1)}`,
  `https://pay.svc.example:8443/c/${CODE}%2f`,
  `${ownCodeText(CODE, CODES_URL)}?a\u2028b`,
  '٠١٢٣٤٥٦٧٨٩٠١٢٣٤٥٦٧٨٩',
])('%j is not a payment code of this platform', (text) => expect(parseOwnCode(text, CODES_URL)).toBeUndefined());

test('the time for parsing grows linearly with the length of the text', () => {
  const start = process.cpuUsage();
  for (const blank of [' ', '%20', '/', '?', '#'])
    expect(parseOwnCode(`${ownCodeText(CODE, CODES_URL)}${blank.repeat(200_000)}x`, CODES_URL)).toBe(
      blank === '?' || blank === '#' ? CODE : undefined,
    );
  // A quadratic time would be minutes.
  expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
});

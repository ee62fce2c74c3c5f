import { decodeCodeParameter, MAX_CODE_LENGTH } from './code-parameter.js';

const encoded = (text: string, form: 'base64' | 'base64url' = 'base64'): string => Buffer.from(text).toString(form);

test.each([
  ['base64 with padding', encoded('12345678901234567890'), '12345678901234567890'],
  ['base64 without it', encoded('12345678901234567890').replace(/=+$/, ''), '12345678901234567890'],
  ['base64 with a raw slash', encoded('???>>>ÿ'), '???>>>ÿ'],
  ['base64url', encoded('???>>>ÿ', 'base64url'), '???>>>ÿ'],
  ['text that is not ASCII', encoded('köök-電子-💳'), 'köök-電子-💳'],
  ['blanks and line breaks around it', encoded(' \n https://a.example \r\n'), 'https://a.example'],
  ['one character', encoded('x'), 'x'],
  ['the longest', encoded('x'.repeat((MAX_CODE_LENGTH / 4) * 3)), 'x'.repeat(1_536)],
])('%s is decoded', (_, parameter, code) => expect(decodeCodeParameter(parameter)).toBe(code));

test.each([
  ['nothing', '', 'base64 or base64url'],
  ['a character that base64 does not have', 'MTIz!DU2', 'base64 or base64url'],
  ['an address that is not encoded', 'https://pay.svc.example/c/1', 'base64 or base64url'],
  ['padding in the middle', 'MT=zNDU2', 'base64 or base64url'],
  ['too much padding', 'MTIzNDU2====', 'base64 or base64url'],
  ['padding that does not fit', 'MTIzND=', 'base64 or base64url'],
  ['a length that no text has', 'MTIzN', 'base64 or base64url'],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x41]).toString('base64'), 'base64 of UTF-8 text'],
  ['a surrogate', Buffer.from([0xed, 0xa0, 0x80]).toString('base64'), 'base64 of UTF-8 text'],
  ['blanks alone', encoded('  \n '), 'must not be empty'],
  ['over 2 KiB', 'QUJD'.repeat(MAX_CODE_LENGTH / 4 + 1), 'at most 2048 characters'],
])('%s is refused, and the error names the field', (_, parameter, message) => {
  expect(() => decodeCodeParameter(parameter)).toThrow(
    expect.objectContaining({
      code: 'request.invalid',
      fields: [{ field: 'code', message: expect.stringContaining(message) as string }],
    }),
  );
});

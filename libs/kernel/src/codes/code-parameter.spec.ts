import { decodeCodeParameter, MAX_CODE_LENGTH } from './code-parameter.js';

const encode = (text: string, encoding: 'base64' | 'base64url' = 'base64'): string =>
  Buffer.from(text).toString(encoding);

test.each([
  ['base64 with padding', encode('12345678901234567890'), '12345678901234567890'],
  ['base64 without padding', encode('12345678901234567890').replace(/=+$/, ''), '12345678901234567890'],
  ['base64 that contains a slash', encode('???>>>ÿ'), '???>>>ÿ'],
  ['base64url', encode('???>>>ÿ', 'base64url'), '???>>>ÿ'],
  ['text that is not ASCII', encode('köök-電子-💳'), 'köök-電子-💳'],
  ['text with blanks and line breaks around it', encode(' \n https://a.example \r\n'), 'https://a.example'],
  ['text of one character', encode('x'), 'x'],
  ['text of the maximum length', encode('x'.repeat((MAX_CODE_LENGTH / 4) * 3)), 'x'.repeat(1_536)],
])('decodeCodeParameter decodes %s', (_, parameter, code) => expect(decodeCodeParameter(parameter)).toBe(code));

test.each([
  ['an empty parameter', '', 'base64 or base64url'],
  ['a character that base64 does not have', 'MTIz!DU2', 'base64 or base64url'],
  ['a URL that is not encoded', 'https://pay.svc.example/c/1', 'base64 or base64url'],
  ['padding in the middle', 'MT=zNDU2', 'base64 or base64url'],
  ['too much padding', 'MTIzNDU2====', 'base64 or base64url'],
  ['padding that does not match the length', 'MTIzND=', 'base64 or base64url'],
  ['a length that is impossible in base64', 'MTIzN', 'base64 or base64url'],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x41]).toString('base64'), 'base64 of UTF-8 text'],
  ['a UTF-8 encoded surrogate', Buffer.from([0xed, 0xa0, 0x80]).toString('base64'), 'base64 of UTF-8 text'],
  ['only blanks', encode('  \n '), 'must not be empty'],
  ['a parameter of more than 2 KiB', 'QUJD'.repeat(MAX_CODE_LENGTH / 4 + 1), 'at most 2048 characters'],
])('decodeCodeParameter rejects %s with an error for the field code', (_, parameter, message) => {
  expect(() => decodeCodeParameter(parameter)).toThrow(
    expect.objectContaining({
      code: 'request.invalid',
      fields: [{ field: 'code', message: expect.stringContaining(message) as string }],
    }),
  );
});

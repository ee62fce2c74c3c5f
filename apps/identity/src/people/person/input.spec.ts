import { MAX_PASSWORD_LENGTH } from '@svc/contracts';
import {
  readAddress,
  readBrowser,
  readEmail,
  readPassword,
  readRequestId,
  readScope,
  readToken,
  readUuid,
} from './input.js';

const codeOf = (read: () => unknown): unknown => {
  try {
    read();
    return 'accepted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('a password may have 128 characters, counted as when it was set', () => {
  expect(codeOf(() => readPassword('e\u0301'.repeat(MAX_PASSWORD_LENGTH)))).toBe('accepted');
  expect(codeOf(() => readPassword('e\u0301'.repeat(MAX_PASSWORD_LENGTH + 1)))).toBe('request.invalid');
});

test('an email is compared in lower case, without spaces around it', () => {
  expect(readEmail(' Lindiwe@Shop.EXAMPLE ')).toBe('lindiwe@shop.example');
  // NFKC makes this email longer than a column.
  expect(codeOf(() => readEmail(`${'\ufdfa'.repeat(20)}@shop.example`))).toBe('request.invalid');
});

test.each(['203.0.113.7', '2001:0db8:0000:0000:0000:ffff:203.113.113.117'])('the address %s is accepted', (address) => {
  expect(readAddress(address)).toBe(address);
});

test.each([
  ['address', () => readAddress('x'.repeat(46))],
  ['address', () => readAddress('')],
  ['browser', () => readBrowser('A'.repeat(64))],
  ['browser', () => readBrowser('a'.repeat(63))],
  ['requestId', () => readRequestId('x'.repeat(101))],
  ['requestId', () => readRequestId('a\nb')],
])('an invalid %s is refused', (_, read) => {
  expect(codeOf(read)).toBe('request.invalid');
});

test.each([
  ['token', () => readToken('x'.repeat(42))],
  ['token', () => readToken(`${'x'.repeat(42)}=`)],
  ['uuid', () => readUuid('x')],
  ['merchant', () => readScope({ merchantId: 0 })],
  ['merchant', () => readScope({ merchantId: 1.5 })],
  ['merchant', () => readScope({ merchantId: 1e15 })],
  ['site', () => readScope({ merchantId: 1, siteId: -1 })],
])('a text or number that cannot be a %s is refused like an unknown one', (_, read) => {
  expect(codeOf(read)).toBe('resource.not-found');
});

test('a UUID is compared in lower case', () => {
  expect(readUuid('019CA8D8-8C90-7577-9CB6-993851DE0A2B')).toBe('019ca8d8-8c90-7577-9cb6-993851de0a2b');
});

import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '@svc/contracts';
import { findPersonProblems, toRoleGrant, toSecondFactors } from './person.js';

const fieldsOf = (name: string, password: string, email = 'lindiwe@shop.example'): string[] =>
  findPersonProblems(email, name, password).map(({ field }) => field);

test('a password of 12 to 128 characters is accepted', () => {
  expect(fieldsOf('Lindiwe', 'x'.repeat(MIN_PASSWORD_LENGTH))).toEqual([]);
  expect(fieldsOf('Lindiwe', 'x'.repeat(MAX_PASSWORD_LENGTH))).toEqual([]);
});

test.each([
  ['too short', 'x'.repeat(MIN_PASSWORD_LENGTH - 1)],
  ['too short after NFKC', 'e\u0301'.repeat(MIN_PASSWORD_LENGTH - 1)],
  ['too long', 'x'.repeat(MAX_PASSWORD_LENGTH + 1)],
  ['with a lone surrogate', `${'x'.repeat(MIN_PASSWORD_LENGTH)}\ud800`],
  ['the email', 'lindiwe@shop.example'],
  ['the email in capitals and with spaces', ' LINDIWE@shop.example '],
])('a password is refused that is %s', (_, password) => {
  expect(fieldsOf('Lindiwe', password)).toEqual(['password']);
});

test('a password is refused that is the name', () => {
  expect(fieldsOf('Lindiwe Mokoena', 'lindiwe mokoena')).toEqual(['password']);
});

test.each(['', ' ', 'x'.repeat(101), 'a\u0000b'])('the name %j is refused', (name) => {
  expect(fieldsOf(name, 'correct horse battery')).toEqual(['name']);
});

test('toRoleGrant has no siteId for the whole merchant', () => {
  expect(toRoleGrant({ merchantId: 1, siteId: null, role: 'owner' })).toEqual({ merchantId: 1, role: 'owner' });
  expect(toRoleGrant({ merchantId: 1, siteId: 2, role: 'owner' })).toEqual({ merchantId: 1, siteId: 2, role: 'owner' });
});

test('toSecondFactors lists the factors that the person has', () => {
  expect(toSecondFactors({ hasTotp: false, hasPasskey: false })).toEqual([]);
  expect(toSecondFactors({ hasTotp: true, hasPasskey: true })).toEqual(['totp', 'passkey']);
  expect(toSecondFactors({ hasTotp: false, hasPasskey: true })).toEqual(['passkey']);
});

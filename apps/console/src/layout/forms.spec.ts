import { MAX_PASSWORD_LENGTH } from '@svc/contracts';
import { readField, readPassword } from './forms.js';

it.each<[unknown, string]>([
  [{ password: ' with spaces ' }, ' with spaces '],
  [{ password: 'x'.repeat(MAX_PASSWORD_LENGTH + 9) }, 'x'.repeat(MAX_PASSWORD_LENGTH + 1)],
  [{}, ''],
  // A body that is no form, such as JSON.
  [{ password: 1 }, ''],
  [{ password: ['secret'] }, ''],
  [null, ''],
  [undefined, ''],
  ['secret', ''],
])('the password of the form %j is read as text', (form, expected) => {
  expect(readPassword(form)).toBe(expected);
});

it.each<[unknown, string | undefined]>([
  [{ name: ' Thandi ' }, 'Thandi'],
  [{ name: '123456' }, '123456'],
  [{ name: '1234567' }, undefined],
  [{ name: '  ' }, undefined],
  [{ name: 'a\0b' }, undefined],
  [{ name: 1 }, undefined],
  [{}, undefined],
  [null, undefined],
])('the field of the form %j is read as text that can be stored', (form, expected) => {
  expect(readField(form, 'name', 6)).toBe(expected);
});

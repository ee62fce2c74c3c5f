import { addOwnReference, parseOwnReferences } from './own-payments.js';

test('the cookie contains the references of the last five payments, the newest first', () => {
  let cookies = 'other=1';
  for (const reference of ['a', 'b', 'c', 'd', 'e']) cookies = `other=1; ${addOwnReference(cookies, reference)}`;
  expect(cookies).toBe('other=1; svc-payment=e.d.c.b.a');
  expect(addOwnReference(cookies, 'f')).toBe('svc-payment=f.e.d.c.b');
});

test('a reference that is already in the cookie is moved to the front', () => {
  expect(addOwnReference('svc-payment=c.b.a', 'b')).toBe('svc-payment=b.c.a');
});

test.each([
  ['', []],
  ['svc-payment=', []],
  ['svc-payment=a', ['a']],
  ['x=1; svc-payment=b.a; y=2', ['b', 'a']],
  ['x=1;svc-payment=a', ['a']],
  ['other-svc-payment=a', []],
  ['svc-payment=a..b', ['a', 'b']],
  ['svc-payment=1.2.3.4.5.6', ['1', '2', '3', '4', '5']],
])('the references in the cookie %j are read as %j', (cookies, references) =>
  expect(parseOwnReferences(cookies)).toEqual(references),
);

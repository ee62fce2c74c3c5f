import { hashPassword, isPassword } from './password.js';
import { PasswordQueue } from './password-queue.js';

test('a hash verifies its own password and no other', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await isPassword('correct horse battery', hash)).toBe(true);
  for (const other of ['correct horse batterY', 'correct horse battery ', ''])
    expect(await isPassword(other, hash)).toBe(false);
  expect(await hashPassword('correct horse battery')).not.toBe(hash);
});

test('a hash of another program with other parameters is accepted', async () => {
  // The reference implementation: echo -n password | argon2 somesalt -id -t 2 -k 256 -p 1 -l 32
  const reference = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  expect(await isPassword('password', reference)).toBe(true);
  expect(await isPassword('Password', reference)).toBe(false);
});

test('equivalent Unicode forms are the same password', async () => {
  expect(await isPassword('Zoe\u0308 loves caf\u00e9', await hashPassword('Zo\u00eb loves cafe\u0301'))).toBe(true);
});

test.each([
  '',
  'plain',
  '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$abc',
  '$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$abc',
  'x$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$abcd',
  '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$abcd$',
  '$argon2id$v=19$m=12345678,t=2,p=1$c29tZXNhbHQ$abcd',
  '$argon2id$v=19$m=,t=2,p=1$c29tZXNhbHQ$abcd',
  '$argon2id$v=19$m=256,t=100,p=1$c29tZXNhbHQ$abcd',
  '$argon2id$v=19$m=256,t=2,p=100$c29tZXNhbHQ$abcd',
  '$argon2id$v=19$m=256,t=2,p=1$$abcd',
  '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$',
])('%j is not a valid password hash', async (hash) => {
  await expect(isPassword('password', hash)).rejects.toThrow('argon2id');
});

test('in a burst some requests wait, and those over the limit are rejected as retryable', async () => {
  const queue = new PasswordQueue();
  const hash = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  // Two run at once; 25 of each organisation and 100 in total may wait.
  const ask = (organisation: string, count: number) =>
    Array.from({ length: count }, () => queue.matches(organisation, 'password', hash));
  const outcomes = await Promise.allSettled([
    ...ask('a', 40),
    ...['b', 'c', 'd'].flatMap((organisation) => ask(organisation, 25)),
    ...ask('e', 1),
  ]);
  const refusedAt = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []));
  expect(refusedAt).toEqual([...Array.from({ length: 13 }, (_, index) => 27 + index), 115]);
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused.map(({ reason }) => (reason as { code: string }).code)).toEqual(
    refused.map(() => 'service.not-ready'),
  );
  expect(await queue.matches('a', 'password', hash)).toBe(true);
});

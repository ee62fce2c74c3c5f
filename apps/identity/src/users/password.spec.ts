import { argon2Sync } from 'node:crypto';
import { hashPassword, isPassword } from './password.js';
import { PasswordQueue } from './password-queue.js';

test('isPassword accepts only the password of the hash, and hashing a password twice returns different hashes', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await isPassword('correct horse battery', hash)).toBe(true);
  for (const other of ['correct horse batterY', 'correct horse battery ', ''])
    expect(await isPassword(other, hash)).toBe(false);
  expect(await hashPassword('correct horse battery')).not.toBe(hash);
});

test('isPassword accepts a hash that another program has computed with other parameters', async () => {
  // The output of the reference implementation: echo -n password | argon2 somesalt -id -t 2 -k 256 -p 1 -l 32
  const reference = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  expect(await isPassword('password', reference)).toBe(true);
  expect(await isPassword('Password', reference)).toBe(false);
});

test('isPassword accepts a hash with 10 passes and 10 lanes', async () => {
  const nonce = Buffer.from('saltsalt');
  const cost = { memory: 80, passes: 10, parallelism: 10, tagLength: 32 };
  const [salt, hash] = [nonce, argon2Sync('argon2id', { message: 'password', nonce, ...cost })].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  expect(await isPassword('password', `$argon2id$v=19$m=80,t=10,p=10$${salt}$${hash}`)).toBe(true);
});

test('isPassword accepts a password in an equivalent Unicode form', async () => {
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
])('isPassword throws for the invalid hash %j', async (hash) => {
  await expect(isPassword('password', hash)).rejects.toThrow('argon2id');
});

test('PasswordQueue lets jobs wait up to the limits, and rejects further jobs with service.not-ready', async () => {
  const queue = new PasswordQueue();
  const hash = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  // Two jobs run concurrently. At most 25 jobs of each organisation and 100 jobs in total may wait.
  const enqueueJobs = (organisation: string, count: number) =>
    Array.from({ length: count }, () => queue.matches(organisation, 'password', hash));
  const outcomes = await Promise.allSettled([
    ...enqueueJobs('a', 40),
    ...['b', 'c', 'd'].flatMap((organisation) => enqueueJobs(organisation, 25)),
    ...enqueueJobs('e', 1),
  ]);
  // Of the 40 jobs of organisation a, 2 run, 25 wait and 13 are rejected. Together with the jobs of b, c and d, 100
  // jobs wait. Therefore the job of e is rejected.
  const rejectedIndexes = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []));
  expect(rejectedIndexes).toEqual([...Array.from({ length: 13 }, (_, index) => 27 + index), 115]);
  const rejectedJobs = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(rejectedJobs.map(({ reason }) => (reason as { code: string }).code)).toEqual(
    rejectedJobs.map(() => 'service.not-ready'),
  );
  expect(await queue.matches('a', 'password', hash)).toBe(true);
});

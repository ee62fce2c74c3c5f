import { argon2 as argon2Callback, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const argon2 = promisify(argon2Callback);

/** Cost of a guess: 19 MiB and two passes, the minimum that OWASP recommends; about 40 ms. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** `$argon2id$v=19$m=…,t=…,p=…$salt$hash`: the hash contains its parameters, so that they can be raised. */
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{1,86})\$([A-Za-z0-9+/]{1,86})$/;

/** argon2id of a password in PHC format, with a new salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES }, HASH_BYTES);
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** Throws for a hash in another format than that of {@link hashPassword}. */
export async function isPassword(password: string, passwordHash: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = PHC.exec(passwordHash) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('A password hash is argon2id in PHC form.');
  const expected = Buffer.from(hash, 'base64');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const given = await derive(password, Buffer.from(salt, 'base64'), parameters, expected.length);
  return timingSafeEqual(given, expected);
}

/** Normalises to NFKC, so that equal texts from different keyboards match. */
function derive(
  password: string,
  nonce: Buffer,
  parameters: { memory: number; passes: number; parallelism: number },
  tagLength: number,
): Promise<Buffer> {
  return argon2('argon2id', { message: password.normalize('NFKC'), nonce, tagLength, ...parameters });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

import { argon2 as argon2Callback, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const argon2 = promisify(argon2Callback);

/** Cost of a hash: 19 MiB and two passes. OWASP recommends this cost as minimum. A hash takes about 40 ms. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/**
 * The format `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. It contains the parameters of the hash. Therefore the parameters
 * can be changed for new passwords, and old hashes can still be checked.
 */
const PHC_PATTERN =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{1,86})\$([A-Za-z0-9+/]{1,86})$/;

/** Hashes a password with argon2id and a new salt. Returns the hash in PHC format. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await computeHash(
    password,
    salt,
    { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES },
    HASH_BYTES,
  );
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${toUnpaddedBase64(salt)}$${toUnpaddedBase64(hash)}`;
}

/** Whether the hash belongs to the password. Throws if the hash does not have the format of {@link hashPassword}. */
export async function isPassword(password: string, passwordHash: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = PHC_PATTERN.exec(passwordHash) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('A password hash is argon2id in PHC form.');
  const expected = Buffer.from(hash, 'base64');
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await computeHash(password, Buffer.from(salt, 'base64'), parameters, expected.length);
  return timingSafeEqual(actual, expected);
}

/**
 * Computes the hash. Normalises the password to NFKC, because keyboards may send the same text in different Unicode
 * forms.
 */
function computeHash(
  password: string,
  nonce: Buffer,
  parameters: { memory: number; passes: number; parallelism: number },
  tagLength: number,
): Promise<Buffer> {
  return argon2('argon2id', { message: password.normalize('NFKC'), nonce, tagLength, ...parameters });
}

function toUnpaddedBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

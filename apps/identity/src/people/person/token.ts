import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** A token that its holder sends back later, and the hash that is stored instead of it. */
interface NewToken {
  /** 32 random bytes as base64url: 43 characters. */
  readonly token: string;
  readonly tokenHash: string;
}

export function newToken(): NewToken {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, tokenHash: hashToken(token) };
}

/**
 * SHA-256 in hexadecimal. Tokens have 256 random bits, so a fast hash without salt is enough, and a row is found by its
 * hash: no comparison of the token itself can take a time that depends on it.
 */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

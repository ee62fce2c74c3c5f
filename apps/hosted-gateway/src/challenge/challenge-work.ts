/** The work of a challenge. The server and the page's script import this file, so it imports nothing. */

/**
 * Iterations of PBKDF2 with SHA-256 for each number that the browser tries. So many that a phone spends most of its time
 * on hashing rather than on calls of WebCrypto, and so few that the server verifies a solution in 0.6 ms.
 */
export const ITERATIONS_PER_NUMBER = 1_000;
/** Length of the digest that the browser searches. */
export const DIGEST_BYTES = 16;

/** The parts of a challenge that the browser needs. */
export interface ChallengeTask {
  /** Password of PBKDF2. */
  readonly id: string;
  /** The solution is an integer from 0 to `numbers - 1`. Its text in decimal digits is the salt of PBKDF2. */
  readonly numbers: number;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** The digest of the solution, as base64url. */
  readonly digest: string;
}

/**
 * Splits the text of a challenge: `id.payableId.numbers.expiresAtMs.digest.signature`. Undefined if it is malformed.
 * Verifies no signature.
 */
export function parseChallengeText(text: string): (ChallengeTask & { readonly payableId: string }) | undefined {
  const [id = '', payableId = '', numbers = '', expiresAtMs = '', digest = '', signature = '', ...rest] =
    text.split('.');
  const isComplete = [id, payableId, digest, signature].every((part) => part !== '') && rest.length === 0;
  if (!isComplete || !/^[1-9]\d{0,8}$/.test(numbers) || !/^[1-9]\d{0,14}$/.test(expiresAtMs)) return undefined;
  return { id, payableId, numbers: Number(numbers), expiresAtMs: Number(expiresAtMs), digest };
}

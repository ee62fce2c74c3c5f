/**
 * Finds the solution of a challenge. Only WebCrypto computes, outside of the page's thread, so the page stays responsive.
 * Node.js imports this file directly for the benchmark of attacks.
 */
import { type ChallengeTask, DIGEST_BYTES, ITERATIONS_PER_NUMBER } from '../../src/challenge/challenge-work.ts';

/** Numbers that are tried between two reports of the progress. */
const BATCH_SIZE = 20;

/**
 * @param onProgress called with the share of the numbers that were tried, below 1
 * @throws Error if no number is the solution
 */
export async function solveChallenge(
  { id, numbers, digest }: ChallengeTask,
  onProgress: (share: number) => void,
): Promise<number> {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(id), 'PBKDF2', false, ['deriveBits']);
  const wanted = decodeBase64Url(digest);
  for (let first = 0; first < numbers; first += BATCH_SIZE) {
    onProgress(first / numbers);
    const batch = Array.from({ length: Math.min(BATCH_SIZE, numbers - first) }, (_, index) => first + index);
    const digests = await Promise.all(batch.map((number) => digestNumber(key, number)));
    const index = digests.findIndex((found) => found === wanted);
    if (index !== -1) return first + index;
  }
  throw new Error('The challenge has no solution.');
}

async function digestNumber(key: CryptoKey, number: number): Promise<string> {
  const salt = new TextEncoder().encode(String(number));
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ITERATIONS_PER_NUMBER };
  const bits = await crypto.subtle.deriveBits(algorithm, key, DIGEST_BYTES * 8);
  return String.fromCharCode(...new Uint8Array(bits));
}

function decodeBase64Url(text: string): string {
  return atob(text.replace(/-/g, '+').replace(/_/g, '/'));
}

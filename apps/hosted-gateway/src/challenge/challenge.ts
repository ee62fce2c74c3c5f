/**
 * The challenge of a payment page: a proof of work against the testing of stolen cards. The server chooses a secret
 * number and sends its digest. The browser tries numbers until it finds the secret one, and sends it with the pay
 * request. The longest search takes only twice as long as the average one, and the page knows its progress.
 *
 * The signed text contains everything that the server needs, so it stores nothing before the solution is used. Any
 * replica can verify a challenge of another replica.
 */
import { createHmac, pbkdf2, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type ChallengeTask, DIGEST_BYTES, ITERATIONS_PER_NUMBER, parseChallengeText } from './challenge-work.js';

/** Time to solve the challenge, fill in the form and pay. After it the page solves another challenge by itself. */
export const CHALLENGE_LIFETIME_MS = 5 * 60_000;
/** Limit for the length of the text. */
export const MAX_CHALLENGE_LENGTH = 250;
export const MAX_SOLUTION = 999_999_999;

const derive = promisify(pbkdf2);

/** A challenge with a valid signature. */
export interface Challenge extends ChallengeTask {
  /** UUID. */
  readonly id: string;
  /** The session or invoice for whose payments the solution is valid. */
  readonly payableId: string;
}

/** @param key 32 bytes */
export async function createChallengeText(
  { payableId, numbers, now }: { readonly payableId: string; readonly numbers: number; readonly now: Date },
  key: Buffer,
): Promise<string> {
  const id = randomUUID();
  const digest = await digestNumber(id, randomInt(numbers));
  const expiresAtMs = now.getTime() + CHALLENGE_LIFETIME_MS;
  const content = [id, payableId, numbers, expiresAtMs, digest.toString('base64url')].join('.');
  return `${content}.${sign(content, key).toString('base64url')}`;
}

/** Returns the challenge if the text is signed with one of the keys, and otherwise undefined. */
export function verifyChallengeText(text: string, keys: readonly Buffer[]): Challenge | undefined {
  const end = Math.max(0, text.lastIndexOf('.'));
  const [content, signature] = [text.slice(0, end), Buffer.from(text.slice(end + 1), 'base64url')];
  return keys.some((key) => areEqual(sign(content, key), signature)) ? parseChallengeText(text) : undefined;
}

/** True if this is the number that the server chose. Takes one derivation of a digest. */
export async function isSolution({ id, numbers, digest }: ChallengeTask, solution: number): Promise<boolean> {
  if (!Number.isInteger(solution) || solution < 0 || solution >= numbers) return false;
  return (await digestNumber(id, solution)).equals(Buffer.from(digest, 'base64url'));
}

/** Runs in the thread pool of Node.js, so that other requests continue. */
function digestNumber(id: string, number: number): Promise<Buffer> {
  return derive(id, String(number), ITERATIONS_PER_NUMBER, DIGEST_BYTES, 'sha256');
}

function areEqual(expected: Buffer, found: Buffer): boolean {
  return expected.length === found.length && timingSafeEqual(expected, found);
}

function sign(content: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(content).digest();
}

/** Solves the challenges of payment pages in tests, as the page's script does. */
import { pbkdf2Sync } from 'node:crypto';
import { type SiteAttackLevelChanged, SiteAttackLevelChangedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { DIGEST_BYTES, ITERATIONS_PER_NUMBER, parseChallengeText } from '../src/challenge/challenge-work.js';
import type { Gateway, Merchant } from './gateway.js';

/** The fields of a pay request. */
export interface SolvedChallenge {
  readonly challenge: string;
  readonly solution: number;
}

/** Tries all numbers. @throws Error if the challenge is malformed or has no solution */
export function solve(challenge: string): SolvedChallenge {
  const task = parseChallengeText(challenge);
  if (!task) throw new Error(`The challenge is malformed: ${challenge}`);
  for (let solution = 0; solution < task.numbers; solution++) {
    const digest = pbkdf2Sync(task.id, String(solution), ITERATIONS_PER_NUMBER, DIGEST_BYTES, 'sha256');
    if (digest.toString('base64url') === task.digest) return { challenge, solution };
  }
  throw new Error('The challenge has no solution.');
}

/** The challenge in the HTML of a page. Undefined if the page has none. */
export function findChallenge(html: string): string | undefined {
  return / data-challenge="([^"]+)"/.exec(html)?.[1];
}

/** Delivers the event that payment-processor publishes when stolen cards are tested at a site. By default for an hour. */
export async function setAttackLevel(
  gateway: Gateway,
  { merchantId, siteId }: Pick<Merchant, 'merchantId' | 'siteId'>,
  change: Pick<SiteAttackLevelChanged, 'level'> & Partial<SiteAttackLevelChanged>,
): Promise<void> {
  const untilUTCDate = gateway.clock.later(3_600_000).toISOString();
  const payload = { mode: 'test' as const, merchantId, siteId, untilUTCDate, version: 1, ...change };
  await gateway.deliver(anEvent(SiteAttackLevelChangedV1, `${payload.mode}/${siteId}`, payload.version, payload));
  // The levels are cached for a second.
  gateway.clock.advance(1_000);
}

import type { AttackLevel } from '@svc/contracts';
import { DAY_MS, HOUR_MS, type VelocityCounter, type VelocityLimits } from '../velocity-limits.js';

/** The level of a site, and its end. */
export interface SiteAttack {
  readonly level: AttackLevel;
  readonly endsAt: Date;
}

const BURST_MS = 10 * 60_000;
/** Share of declined cards from which a burst is an attack. Of regular payments about 8 % are declined. */
const BURST_SHARE = 0.2;
/** The same for a day. An attack of ten cards an hour is seen only in this window. */
const DAY_SHARE = 0.3;
/** How long a level holds after the decline that caused it. */
export const BURST_HOLD_MS = HOUR_MS;
export const DAY_HOLD_MS = 6 * HOUR_MS;
/** A burst of this multiple of the floor has this level. */
const LEVELS = [
  [4, 3],
  [2, 2],
  [1, 1],
] as const satisfies (readonly [multiple: number, level: AttackLevel])[];

type SiteDeclines = Pick<VelocityCounter, 'declinedAt' | 'approvals'>;

/**
 * Decides after a decline whether the attack level of its site changes, or holds for longer. Undefined if nothing changes.
 * A small shop with a few declines is below both floors, and a shop with regular trade below both shares. A level rises at
 * once, and falls only when less than half of its time is left, so that not every decline changes it.
 */
export function decideAttackLevel(
  declines: SiteDeclines,
  current: SiteAttack | undefined,
  limits: VelocityLimits,
  now: Date,
): SiteAttack | undefined {
  const seen = levelOf(declines, limits, now);
  if (!seen) return undefined;
  const known = current && current.endsAt > now ? current : undefined;
  if (!known || seen.level > known.level) return seen;
  const isEnding = known.endsAt.getTime() - now.getTime() < (seen.endsAt.getTime() - now.getTime()) / 2;
  return isEnding ? seen : undefined;
}

function levelOf(declines: SiteDeclines, limits: VelocityLimits, now: Date): SiteAttack | undefined {
  const burst = countBurst(declines, now);
  const floor = limits.siteDeclinesPer10Minutes;
  if (burst.declined >= floor && burst.share >= BURST_SHARE) {
    const [, level] = LEVELS.find(([multiple]) => burst.declined >= Math.min(multiple * floor, 100))!;
    return { level, endsAt: new Date(now.getTime() + BURST_HOLD_MS) };
  }
  const day = countSince(declines, new Date(now.getTime() - DAY_MS));
  if (day.declined < limits.siteDeclinesPerDay || day.share < DAY_SHARE) return undefined;
  return { level: 1, endsAt: new Date(now.getTime() + DAY_HOLD_MS) };
}

/** The declined cards of the last ten minutes, and their share of all cards. */
export function countBurst(declines: SiteDeclines, now: Date): { declined: number; share: number } {
  return countSince(declines, new Date(now.getTime() - BURST_MS));
}

function countSince({ declinedAt, approvals }: SiteDeclines, since: Date): { declined: number; share: number } {
  let [declined, approved] = [0, 0];
  declinedAt.forEach((time, index) => {
    if (time <= since) return;
    declined++;
    approved += approvals[index]!;
  });
  return { declined, share: declined === 0 ? 0 : declined / (declined + approved) };
}

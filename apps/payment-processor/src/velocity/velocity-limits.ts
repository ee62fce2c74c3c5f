import type { Mode } from '@svc/contracts';

/**
 * Limits against the testing of stolen cards (P11). Each limit is a number of declines in a sliding window. A number of
 * 0 would refuse every payment, so the lowest limit is 1.
 */
export interface VelocityLimits {
  /** Declines of a card within 24 hours, over all merchants. */
  readonly cardDeclinesPerDay: number;
  /** Declines of a card within 30 days, over all merchants. */
  readonly cardDeclinesPer30Days: number;
  /** Declined cards of one number range (BIN) within an hour, at one site or of one partner. */
  readonly rangeDeclinesPerHour: number;
  /** Declined cards of one payer's address within an hour. Only for a site under attack. */
  readonly addressDeclinesPerHour: number;
  /** Declined cards of one partner's organisation within an hour. */
  readonly organisationDeclinesPerHour: number;
  /** Declined cards within ten minutes from which a site can be under attack. */
  readonly siteDeclinesPer10Minutes: number;
  /** Declined cards within 24 hours from which a site can be under attack. */
  readonly siteDeclinesPerDay: number;
}

/** A merchant's limits in one mode. While the limits are off, nothing is counted. */
export interface VelocityPolicy {
  readonly enabled: boolean;
  readonly limits: VelocityLimits;
}

/**
 * Mastercard charges a fee for each authorisation after ten declines of a card within 24 hours, Visa from the sixteenth
 * decline within 30 days.
 */
export const DEFAULT_LIMITS: VelocityLimits = {
  cardDeclinesPerDay: 4,
  cardDeclinesPer30Days: 10,
  rangeDeclinesPerHour: 10,
  addressDeclinesPerHour: 2,
  organisationDeclinesPerHour: 50,
  siteDeclinesPer10Minutes: 20,
  siteDeclinesPerDay: 60,
};
export const LIMIT_NAMES = Object.keys(DEFAULT_LIMITS) as (keyof VelocityLimits)[];

/** Entries of a counter, and so the highest limit. */
export const MAX_DECLINES = 100;

/** Payments in flight in one counter. */
export const MAX_IN_FLIGHT = 200;

/** A limit is off by default in test mode, in which developers try the declined test cards all day. */
export function isEnabledByDefault(mode: Mode, enabledInTestMode: boolean): boolean {
  return mode === 'live' || enabledInTestMode;
}

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** The longest window, and how long a card is closed that must not be tried again. */
export const LONGEST_WINDOW_MS = 30 * DAY_MS;
/**
 * A payment in flight counts for this time at most: 15 minutes until the payer opens our page, 15 minutes on the bank's
 * page, 15 minutes without an outcome of the charge, and a reserve. Each end frees its payment. The time frees a payment
 * whose acceptance failed after it was counted.
 */
export const MAX_IN_FLIGHT_MS = HOUR_MS;

/** The subjects whose declines are counted. The name is the beginning of the counter's key. */
export type VelocityScope = 'card' | 'range' | 'address' | 'organisation' | 'site';

/** How long a decline counts in a counter of this scope, in milliseconds. */
export const RETENTION_MS: Readonly<Record<VelocityScope, number>> = {
  card: LONGEST_WINDOW_MS,
  range: HOUR_MS,
  address: HOUR_MS,
  organisation: HOUR_MS,
  site: DAY_MS,
};

/** The declines of a card, a number range, an address, an organisation or a site. */
export interface VelocityCounter {
  /** Times of the declines, in any order; the newest {@link MAX_DECLINES}. */
  readonly declinedAt: readonly Date[];
  /** For each decline: the number of approvals since the decline before. Always 0 for a card. */
  readonly approvals: readonly number[];
  /** When the payments were accepted that have no outcome yet. */
  readonly inFlightSince: readonly Date[];
  /** Approval of the card. Only later declines count for the day's limit. */
  readonly resetAt?: Date | undefined;
  /** The acquirer said that the card must not be tried again, or an administrator has blocked the subject. */
  readonly closedUntil?: Date | undefined;
}

/** The limit that an attempt must keep, at the time of the attempt. */
export interface WindowLimit {
  readonly limit: number;
  /** Declines after this time count. */
  readonly since: Date;
  /** A second limit, over a longer window, which no approval resets. */
  readonly longLimit?: number | undefined;
  readonly longSince?: Date | undefined;
  /**
   * Approvals that no decline has reported to the counter yet. As many declines as approvals are regular trade, so the
   * limit is never below the approvals.
   */
  readonly credit: number;
}

/**
 * How many more attempts may start now. Payments in flight count as declines. The statement that accepts payments
 * computes the same number (`counters/count-in-flight.query.ts`).
 */
export function remainingAttempts(counter: VelocityCounter, limit: WindowLimit, now: Date): number {
  const { declinedAt, approvals, inFlightSince, resetAt, closedUntil } = counter;
  if (closedUntil !== undefined && closedUntil > now) return 0;
  const resetTime = Math.max(limit.since.getTime(), resetAt?.getTime() ?? 0);
  const countSince = (time: number): number => declinedAt.filter((declined) => declined.getTime() > time).length;
  const approved = approvals.reduce((sum, count, index) => sum + (declinedAt[index]! > limit.since ? count : 0), 0);
  const inWindow = Math.max(limit.limit, limit.credit + approved) - countSince(resetTime);
  const { longLimit, longSince } = limit;
  const inLongWindow =
    longLimit === undefined || longSince === undefined ? Infinity : longLimit - countSince(longSince.getTime());
  const oldestInFlight = now.getTime() - MAX_IN_FLIGHT_MS;
  const inFlight = inFlightSince.filter((since) => since.getTime() >= oldestInFlight).length;
  return Math.min(inWindow, inLongWindow, MAX_IN_FLIGHT) - inFlight;
}

/** The limit of one scope for an attempt that starts now. A site has no limit: its declines decide the attack level. */
export function windowLimitOf(
  scope: Exclude<VelocityScope, 'site'>,
  limits: VelocityLimits,
  now: Date,
  credit = 0,
): WindowLimit {
  const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
  switch (scope) {
    case 'card':
      return {
        limit: limits.cardDeclinesPerDay,
        since: before(DAY_MS),
        longLimit: limits.cardDeclinesPer30Days,
        longSince: before(LONGEST_WINDOW_MS),
        credit: 0,
      };
    case 'range':
      return { limit: limits.rangeDeclinesPerHour, since: before(HOUR_MS), credit };
    case 'address':
      return { limit: limits.addressDeclinesPerHour, since: before(HOUR_MS), credit };
    case 'organisation':
      return { limit: limits.organisationDeclinesPerHour, since: before(HOUR_MS), credit };
  }
}

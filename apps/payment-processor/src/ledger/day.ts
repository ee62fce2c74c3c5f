/**
 * Delay between the end of a quarter of an hour and its closing. All statements that began before have ended by then
 * (their timeout is 15 s).
 */
const CLOSING_DELAY_MS = 300_000;

/** The ledger is closed in steps of this length, because the local midnights of all time zones are such times in UTC. */
const CLOSING_STEP_MS = 900_000;

/** The UTC day of a time: `2026-03-01`. */
export function formatUTCDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The UTC day before the day of this time. */
export function previousUTCDay(time: Date): string {
  return formatUTCDay(new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() - 1)));
}

/** The newest time up to which the ledger may be closed now. */
export function newestClosableTime(now: Date): Date {
  return floorToClosing(new Date(now.getTime() - CLOSING_DELAY_MS));
}

/** The last time of a closing that is not after this time. */
export function floorToClosing(time: Date): Date {
  return new Date(Math.floor(time.getTime() / CLOSING_STEP_MS) * CLOSING_STEP_MS);
}

import { PASSWORD_CLOSED_MS } from '@svc/contracts';

/** Failures that are older than this have no effect. */
export const FAILURE_RETENTION_MS = 2 * PASSWORD_CLOSED_MS;

/**
 * The time until which checks of a subject are refused, or undefined if they are not. `max` failures within 30 minutes
 * close the subject for 30 minutes after the last of them. A refused check is not counted, so an attacker who continues
 * does not close the subject for longer.
 *
 * @param newestFailures the times of the newest `max` failures, or of all if there are fewer, the newest first
 */
export function closedUntil(newestFailures: readonly Date[], max: number, now: Date): Date | undefined {
  const [newest] = newestFailures;
  const oldest = newestFailures[max - 1];
  if (!newest || !oldest || newest.getTime() - oldest.getTime() > PASSWORD_CLOSED_MS) return undefined;
  const end = new Date(newest.getTime() + PASSWORD_CLOSED_MS);
  return end > now ? end : undefined;
}

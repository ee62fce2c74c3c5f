import { isDatabaseUnavailable, sqlState } from '@svc/persistence';

/**
 * Cause of a handler's failure. `unavailable`: no message can be handled, because the database is unavailable.
 * `blocked`: a lock or a conflict with another transaction. `timeout`: the database or the message itself caused a
 * timeout. If other messages succeed at the same time, the message caused the timeout. `message`: the message itself
 * caused the failure.
 */
type FailureCause = 'unavailable' | 'blocked' | 'timeout' | 'message';

/** Serialization failure, deadlock, and lock not available. */
const BLOCKED = new Set(['40001', '40P01', '55P03']);
/** Statement timeout, or a cancellation. */
const TIMED_OUT = '57014';
/** How many levels of `error.cause` are searched: a handler may wrap the error of its database. */
const MAX_CAUSES = 5;

export function failureCause(error: unknown): FailureCause {
  for (let cause = error, depth = 0; cause instanceof Error && depth < MAX_CAUSES; cause = cause.cause, depth++) {
    const state = sqlState(cause) ?? '';
    if (isDatabaseUnavailable(cause)) return 'unavailable';
    if (BLOCKED.has(state)) return 'blocked';
    if (state === TIMED_OUT) return 'timeout';
  }
  return 'message';
}

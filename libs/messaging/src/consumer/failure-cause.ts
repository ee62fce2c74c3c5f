import { isDatabaseUnavailable, sqlState } from '@svc/persistence';

/**
 * What a handler's failure says. `unavailable`: nothing about any message, the database serves nobody. `blocked`: nothing
 * about this message, it lost to others. `timeout`: one or the other, which the fate of other messages tells. `message`: it
 * is the message's own.
 */
export type FailureCause = 'unavailable' | 'blocked' | 'timeout' | 'message';

/** Serialization failure, deadlock, and a lock that was not to be had. */
const BLOCKED = new Set(['40001', '40P01', '55P03']);
/** Statement timeout, or a cancellation. */
const TIMED_OUT = '57014';
/** A handler may wrap the error of its database. */
const CAUSES_MAX = 5;

export function failureCause(error: unknown): FailureCause {
  for (let cause = error, depth = 0; cause instanceof Error && depth < CAUSES_MAX; cause = cause.cause, depth++) {
    const state = sqlState(cause) ?? '';
    if (isDatabaseUnavailable(cause)) return 'unavailable';
    if (BLOCKED.has(state)) return 'blocked';
    if (state === TIMED_OUT) return 'timeout';
  }
  return 'message';
}

import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';

/** A call of a merchant's server to an API that was answered with an error. It has neither bodies nor query strings. */
export interface FailedCall {
  /**
   * `x-request-id` of the response (C8).
   * @schema uuid
   */
  requestId: string;
  merchantId: number;
  /** Absent if the call names no site. */
  siteId?: number;
  mode: Mode;
  method: string;
  /** Template of the path. Only numbers, UUIDs and payment references are filled in. */
  path: string;
  statusCode: number;
  /** `x-error-code` of the response. Absent if it has none. */
  errorCode?: string;
  /** ISO 8601 UTC. */
  calledUTCDate: string;
}

/** Calls of one request at most. */
export const MAX_FAILED_CALLS_PER_REQUEST = 200;

/**
 * Tells the console which calls failed, so that the developers of a merchant see them. Best effort: calls are dropped under
 * load, and when the console does not respond. A repeat has no effect.
 */
export const RecordFailedCallsV1 = commandType<{ calls: FailedCall[] }, { recorded: true }>('record-failed-calls.v1');

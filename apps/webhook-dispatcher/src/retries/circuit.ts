import type { WebhookResponse } from '../endpoint/webhook-client.js';
import { MAX_SCHEDULE_MS } from './retry-schedule.js';

/**
 * The circuit breaker of one endpoint (E6). This file has no side effects: the time is an argument, and
 * `circuit.repository.ts` and `delivery-lease.repository.ts` store the state.
 *
 * - closed: the endpoint is healthy. Without failures the circuit has no row in the database.
 * - open until `openUntil`: nothing is sent. Due notifications stay due and lose no attempt of their schedule.
 * - half-open after `openUntil`: one notification is sent as a probe. A response other than a failure closes the
 *   circuit. Another failure opens it for twice as long.
 *
 * The circuit breaker only saves requests to an endpoint that is down. The concurrency limits already prevent one
 * endpoint from delaying another, so the circuit opens late and never for long.
 */
export interface Circuit {
  /** Consecutive failures, over all processes. */
  readonly failures: number;
  /** Number of times that it opened since the last response that was not a failure. */
  readonly openings: number;
  /** Absent while closed. */
  readonly openUntil: Date | undefined;
  /** Lease of the probe that is in flight. */
  readonly probeLeaseId: string | undefined;
}

const FAILURE_THRESHOLD = 5;
const FIRST_OPEN_MS = 10_000;
const MAX_OPEN_MS = 5 * 60_000;

/**
 * Whether an attempt failed because of the endpoint as a whole: no response, a server error, or 429. Any other status,
 * including 404, shows that the endpoint is up.
 */
export function isFailure({ statusCode }: Pick<WebhookResponse, 'statusCode'>): boolean {
  return statusCode === undefined || statusCode >= 500 || statusCode === 429;
}

/** Returns the circuit after one more failure. `leaseId` is the lease of the failed attempt. */
export function circuitAfterFailure(circuit: Circuit, leaseId: string, now: Date): Circuit {
  const failures = circuit.failures + 1;
  if (failures < FAILURE_THRESHOLD) return { ...circuit, failures };
  // Attempts that were in flight when the circuit opened must not extend it. Only a failed probe opens it again.
  if (circuit.openUntil !== undefined && circuit.probeLeaseId !== leaseId) return { ...circuit, failures };
  return {
    failures,
    openings: circuit.openings + 1,
    openUntil: new Date(now.getTime() + openDurationMs(circuit.openings)),
    probeLeaseId: undefined,
  };
}

function openDurationMs(openings: number): number {
  return Math.min(FIRST_OPEN_MS * 2 ** Math.min(openings, 20), MAX_OPEN_MS);
}

/**
 * Notifications of an endpoint that never recovers must not accumulate for ever. After a failed probe, those are
 * exhausted that are older than the whole retry schedule and have been overdue for longer than a circuit stays open.
 */
export const MAX_BACKLOG_AGE_MS = MAX_SCHEDULE_MS;
export const MIN_OVERDUE_MS = MAX_OPEN_MS;

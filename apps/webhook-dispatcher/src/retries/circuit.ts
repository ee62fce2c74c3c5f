import type { WebhookResponse } from '../endpoint/webhook-client.js';
import { MAX_SCHEDULE_MS } from './retry-schedule.js';

/**
 * The circuit breaker of one endpoint (E6). The functions in this file have no side effects. The time is an argument.
 * `circuit.repository.ts`, `delivery-lease.repository.ts` and `delivery-attempt.repository.ts` store the state.
 *
 * - closed: notifications are sent. A circuit without failures has no row in the database.
 * - open until `openUntil`: nothing is sent. Due notifications stay due and lose no attempt of their schedule.
 * - half-open after `openUntil`: one notification is sent as a probe. If the probe fails, the circuit opens again for
 *   twice as long. If the probe does not fail, the circuit closes.
 *
 * The circuit breaker only saves requests to an endpoint that is down. The concurrency limits already prevent one
 * endpoint from delaying another, so the circuit opens late and never for long.
 */
export interface Circuit {
  /** Number of consecutive failures, counted by all processes together. */
  readonly failures: number;
  /** How often the circuit has opened since the last response that was not a failure. */
  readonly openings: number;
  /** Undefined while the circuit is closed. */
  readonly openUntil: Date | undefined;
  /** The id of the lease of the probe that is in flight. */
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
  // Attempts that were in flight when the circuit opened must not prolong the opening. Only a failed probe opens the
  // circuit again.
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
 * Notifications of an endpoint that never recovers must not accumulate for ever. A failed probe exhausts notifications
 * that are older than the whole retry schedule and have been overdue for longer than a circuit stays open.
 */
export const MAX_BACKLOG_AGE_MS = MAX_SCHEDULE_MS;
export const MIN_OVERDUE_MS = MAX_OPEN_MS;

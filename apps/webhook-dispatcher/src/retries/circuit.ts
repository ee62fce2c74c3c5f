import type { Answer } from '../endpoint/post-notification.js';
import { SCHEDULE_MAX_MS } from './retry-schedule.js';

/**
 * The circuit breaker of one endpoint (E6). Pure: time is given, and where it is kept is the business of
 * `circuit.repository.ts` and `delivery-lease.repository.ts`.
 *
 * - closed: nothing is known against the endpoint; no row.
 * - open until a time: nothing is sent. What is due stays due, and loses no try of its schedule.
 * - half-open, once that time is over: one notification may be sent, the probe. Any sign of life closes the circuit;
 *   another failure opens it for twice as long.
 *
 * It saves places and time, it is no judgement on notifications: bounded concurrency alone already keeps an endpoint from
 * delaying another. So it opens late and never for long.
 */
export interface Circuit {
  /** In a row, over all processes. */
  readonly failures: number;
  /** Times it opened since the last sign of life. */
  readonly openings: number;
  /** Absent while closed. */
  readonly openUntil: Date | undefined;
  /** Lease of the probe that is under way. */
  readonly probeLeaseId: string | undefined;
}

const FAILURES_TO_OPEN = 5;
const OPEN_FIRST_MS = 10_000;
const OPEN_MAX_MS = 5 * 60_000;

/**
 * Whether a try speaks against its endpoint as a whole: no answer, an error of the server, or one that asks for less.
 * Anything else, a 404 too, came quickly from something that lives.
 */
export function isFailure({ statusCode }: Pick<Answer, 'statusCode'>): boolean {
  return statusCode === undefined || statusCode >= 500 || statusCode === 429;
}

/** What one more failure makes of a circuit. `leaseId`: of the try that failed. */
export function afterFailure(circuit: Circuit, leaseId: string, now: Date): Circuit {
  const failures = circuit.failures + 1;
  if (failures < FAILURES_TO_OPEN) return { ...circuit, failures };
  // Tries that were on the wire when it opened tell nothing new; only its probe does.
  if (circuit.openUntil !== undefined && circuit.probeLeaseId !== leaseId) return { ...circuit, failures };
  return {
    failures,
    openings: circuit.openings + 1,
    openUntil: new Date(now.getTime() + openForMs(circuit.openings)),
    probeLeaseId: undefined,
  };
}

/** How long it stays open, by how often it has opened before. Milliseconds. */
function openForMs(openings: number): number {
  return Math.min(OPEN_FIRST_MS * 2 ** Math.min(openings, 20), OPEN_MAX_MS);
}

/**
 * An endpoint that never comes back must not collect notifications for ever. One whose schedule began so long ago that it
 * would be over, and that has been overdue for so long that a probe has failed since, is exhausted. Milliseconds.
 */
export const HELD_UP_MAX_MS = SCHEDULE_MAX_MS;
export const OVERDUE_MIN_MS = OPEN_MAX_MS;

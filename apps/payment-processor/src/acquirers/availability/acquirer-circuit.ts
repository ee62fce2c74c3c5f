import type { Clock } from '@svc/kernel';
import type { ChargeOutcome } from '../acquirer.js';

/** This number of failures in a row opens the circuit. */
const FAILURE_THRESHOLD = 5;
/** Failures further apart than this are not in a row: the circuit protects payers only from a lasting outage. */
const MAX_FAILURE_GAP_MS = 60_000;
const FIRST_OPEN_MS = 5_000;
const MAX_OPEN_MS = 60_000;
/** If the outcome of a probe does not arrive within this time, another probe is sent. Longer than any timeout of a charge. */
const PROBE_TIMEOUT_MS = 30_000;

export type CircuitState = 'closed' | 'open' | 'halfOpen';

/**
 * The circuit breaker of one acquirer in one mode. While its API is down or does not respond in time, charges end at
 * once without a call, so that no payer waits for the timeout and no attempt becomes unknown.
 *
 * - closed: charges are sent.
 * - open: no charge is sent. The payments fail with `acquirer.unavailable`.
 * - half-open: one charge is sent as a probe. If the acquirer responds, the circuit closes. Otherwise it opens again for
 *   twice as long.
 *
 * Each process has its own circuit and learns of an outage from its own charges: a shared circuit would cost every
 * payment a round trip to the database.
 */
export class AcquirerCircuit {
  private failures = 0;
  private lastFailureMs = -Infinity;
  /** How often the circuit has opened since the last response. */
  private openings = 0;
  /** Undefined while the circuit is closed. */
  private openUntilMs: number | undefined;

  /** @param onChange called when the circuit opens, opens again after a probe, or closes */
  constructor(
    private readonly clock: Clock,
    private readonly onChange: (state: 'open' | 'closed') => void,
  ) {}

  get state(): CircuitState {
    if (this.openUntilMs === undefined) return 'closed';
    return this.clock.monotonicMs() < this.openUntilMs ? 'open' : 'halfOpen';
  }

  /** Sends a charge. Undefined, without a call, while the circuit is open. */
  async execute(charge: () => Promise<ChargeOutcome>): Promise<ChargeOutcome | undefined> {
    const { state } = this;
    if (state === 'open') return undefined;
    const isProbe = state === 'halfOpen';
    // Until the probe has an outcome, the circuit is open for all other charges.
    if (isProbe) this.openUntilMs = this.clock.monotonicMs() + PROBE_TIMEOUT_MS;
    const outcome = await charge();
    if (isFailure(outcome)) this.countFailure(isProbe);
    else this.close();
    return outcome;
  }

  private countFailure(isProbe: boolean): void {
    const nowMs = this.clock.monotonicMs();
    if (this.openUntilMs !== undefined) {
      // A charge that was sent before the circuit opened must not keep it open: only a failed probe does.
      if (isProbe) this.open(nowMs);
      return;
    }
    this.failures = nowMs - this.lastFailureMs > MAX_FAILURE_GAP_MS ? 1 : this.failures + 1;
    this.lastFailureMs = nowMs;
    if (this.failures >= FAILURE_THRESHOLD) this.open(nowMs);
  }

  private open(nowMs: number): void {
    this.openUntilMs = nowMs + Math.min(FIRST_OPEN_MS * 2 ** Math.min(this.openings, 20), MAX_OPEN_MS);
    this.openings++;
    this.onChange('open');
  }

  private close(): void {
    const wasClosed = this.openUntilMs === undefined;
    this.failures = 0;
    this.openings = 0;
    this.openUntilMs = undefined;
    if (!wasClosed) this.onChange('closed');
  }
}

/**
 * Whether the acquirer as a whole failed: there was no connection or no clear response. Every other outcome, such as a
 * decline, shows that the acquirer responds.
 */
function isFailure(outcome: ChargeOutcome): boolean {
  return (outcome.kind === 'notAttempted' || outcome.kind === 'unknown') && outcome.hasResponded !== true;
}

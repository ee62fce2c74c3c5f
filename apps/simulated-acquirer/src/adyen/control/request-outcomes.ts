import type { ModificationType } from '../state/records.js';

/** Makes the next modifications of a type fail. */
export interface RequestedFailure {
  readonly type: ModificationType;
  /** The `reason` of the webhook. */
  readonly reason: string;
  /** Only modifications of this payment; by default of every payment. */
  readonly paymentPspReference?: string;
}

/** Limit of failures that wait for a modification. */
const MAX_FAILURES = 1_000;

/** Failures of modifications that the control interface requested. They are not stored. */
export class RequestOutcomes {
  private readonly failures: RequestedFailure[] = [];

  add(failure: RequestedFailure): void {
    if (this.failures.length >= MAX_FAILURES) this.failures.shift();
    this.failures.push(failure);
  }

  /** Returns the failure for this modification, and removes it. */
  take(type: ModificationType, paymentPspReference: string): RequestedFailure | undefined {
    const index = this.failures.findIndex(
      (each) =>
        each.type === type &&
        (each.paymentPspReference === undefined || each.paymentPspReference === paymentPspReference),
    );
    return index === -1 ? undefined : this.failures.splice(index, 1)[0];
  }
}

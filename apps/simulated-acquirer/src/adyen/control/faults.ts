/** Operations of Adyen's interface, as faults name them. */
export const OPERATIONS = [
  'payments',
  'details',
  'captures',
  'cancels',
  'technical-cancels',
  'refunds',
  'reversals',
  'stored-payment-methods',
  'reports',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export const FAULT_TYPES = [
  /** The connection breaks before the request is processed. */
  'lose-request',
  /** The connection breaks after the request was processed. */
  'lose-response',
  /** The request is processed after `delayMs`. */
  'delay-request',
  /** The request is processed at once, and the response is sent after `delayMs`. */
  'delay-response',
  /** The request is not processed, and the response has `status` and Adyen's header for a transient error. */
  'status',
  /** The request is processed, and the response has `status`, also to later requests under the same key. */
  'status-after',
  /** The request is not processed, and the response is no JSON. */
  'not-json',
  /** The request is processed, and the response is no JSON. */
  'not-json-after',
] as const;

/** Something that the control interface does to the next requests that match. */
export interface Fault {
  readonly type: (typeof FAULT_TYPES)[number];
  /** Only requests of this operation; by default all. */
  readonly operation?: Operation;
  /** Only requests with this merchant's reference or, in their path, this PSP reference; by default all. */
  readonly reference?: string;
  /** Milliseconds. */
  readonly delayMs?: number;
  /** HTTP status; by default 503. */
  readonly status?: number;
  /** Number of requests; by default 1. */
  readonly times?: number;
}

/** Limit of faults that wait for a request. */
const MAX_FAULTS = 1_000;

/** Faults that the control interface requested. They are not stored. */
export class Faults {
  private faults: { readonly fault: Fault; remaining: number }[] = [];

  add(fault: Fault): void {
    if (this.faults.length >= MAX_FAULTS) this.faults.shift();
    this.faults.push({ fault, remaining: fault.times ?? 1 });
  }

  clear(): void {
    this.faults = [];
  }

  list(): Fault[] {
    return this.faults.map(({ fault, remaining }) => ({ ...fault, times: remaining }));
  }

  /** Returns the oldest fault for this request, and counts it as used. */
  take(operation: Operation, references: readonly string[]): Fault | undefined {
    const found = this.faults.find(
      ({ fault }) =>
        (fault.operation === undefined || fault.operation === operation) &&
        (fault.reference === undefined || references.includes(fault.reference)),
    );
    if (!found) return undefined;
    found.remaining -= 1;
    if (found.remaining <= 0) this.faults = this.faults.filter((each) => each !== found);
    return found.fault;
  }
}

/**
 * One endpoint (host and port) of one merchant. Each EndpointKey has its own circuit breaker and its own concurrency
 * limit.
 */
export interface EndpointKey {
  readonly merchantId: number;
  readonly endpoint: string;
}

/** Maximum numbers of requests in flight: in total, for one merchant, and for one endpoint of one merchant. */
export interface ConcurrencyLimits {
  readonly total: number;
  readonly perMerchant: number;
  readonly perEndpoint: number;
}

export interface EndpointUsage extends EndpointKey {
  readonly inFlight: number;
}

/** Limits of a lease request. `max` notifications may be leased in addition to the requests in flight (`usage`). */
interface LeaseCapacity {
  readonly max: number;
  readonly usage: readonly EndpointUsage[];
}

const endpointId = ({ merchantId, endpoint }: EndpointKey): string => `${merchantId} ${endpoint}`;

/**
 * Limits the requests in flight of this process (E6). A permit allows one request in flight. Each endpoint has a limited
 * number of permits. Each merchant has a limit too, because otherwise a merchant with many endpoints could use all
 * permits of the process. The limiter uses neither the database nor a clock.
 *
 * When a notification gets no permit, later notifications get no permit until the next lease request. Therefore later
 * notifications do not overtake the waiting notification.
 */
export class ConcurrencyLimiter {
  private inFlight = 0;
  private recording = 0;
  private readonly endpoints = new Map<string, EndpointUsage>();
  private readonly merchants = new Map<number, number>();
  private isFull = false;
  /** While a lease request runs, only the lease request may acquire permits, because it may need all free permits. */
  private isLeasing = false;
  private readonly fullEndpoints = new Set<string>();
  private readonly fullMerchants = new Set<number>();

  constructor(private readonly limits: ConcurrencyLimits) {}

  /**
   * Number of free permits, including permits that notifications wait for. The results of up to `total` ended requests may
   * wait to be recorded. Each further waiting result uses a permit.
   */
  get available(): number {
    const { total } = this.limits;
    return Math.min(total - this.inFlight, 2 * total - this.inFlight - this.recording);
  }

  get usage(): readonly EndpointUsage[] {
    return [...this.endpoints.values()];
  }

  /** Acquires a permit if a permit is free and no notification waits for the permit. */
  tryAcquire(key: EndpointKey): boolean {
    this.isFull ||= this.isLeasing || this.available <= 0;
    if (this.isEndpointFull(key)) this.fullEndpoints.add(endpointId(key));
    if (this.isMerchantFull(key.merchantId)) this.fullMerchants.add(key.merchantId);
    if (this.hasWaiters(key)) return false;
    this.acquire(key);
    return true;
  }

  acquire(key: EndpointKey): void {
    this.inFlight++;
    const id = endpointId(key);
    this.endpoints.set(id, { ...key, inFlight: (this.endpoints.get(id)?.inFlight ?? 0) + 1 });
    this.merchants.set(key.merchantId, (this.merchants.get(key.merchantId) ?? 0) + 1);
  }

  /** Call this when a request has ended. Its permit is free for another request while its result is recorded. */
  markRequestEnded(key: EndpointKey): void {
    this.inFlight--;
    this.recording++;
    const id = endpointId(key);
    const inFlight = this.endpoints.get(id)!.inFlight - 1;
    if (inFlight > 0) this.endpoints.set(id, { ...key, inFlight });
    else this.endpoints.delete(id);
    const inFlightOfMerchant = this.merchants.get(key.merchantId)! - 1;
    if (inFlightOfMerchant > 0) this.merchants.set(key.merchantId, inFlightOfMerchant);
    else this.merchants.delete(key.merchantId);
  }

  /** Call this when the result of a request is recorded. */
  markRecorded(): void {
    this.recording--;
  }

  /** True if a permit is free for this endpoint, even if other notifications wait for the permit. */
  hasCapacityFor(key: EndpointKey): boolean {
    return this.available > 0 && !this.isEndpointFull(key) && !this.isMerchantFull(key.merchantId);
  }

  /** True if notifications may be waiting for a permit of this endpoint. */
  hasWaiters(key: EndpointKey): boolean {
    return this.isFull || this.fullMerchants.has(key.merchantId) || this.fullEndpoints.has(endpointId(key));
  }

  /** Begins a lease request. Call `endLease` when it ends, even if it has failed. */
  beginLease(): LeaseCapacity {
    this.isLeasing = true;
    this.isFull = false;
    this.fullEndpoints.clear();
    this.fullMerchants.clear();
    return { max: this.available, usage: this.usage };
  }

  /**
   * Ends a lease request. The leased notifications must have acquired their permits. If the request leased the maximum of
   * an endpoint, of a merchant or of the process, more of its notifications may be waiting for a permit. Returns true if
   * such a permit became free during the request. The caller must then lease again, because nothing else wakes the
   * worker.
   */
  endLease(capacity: LeaseCapacity, leased: readonly EndpointKey[]): boolean {
    this.isLeasing = false;
    // This limiter has the state that would exist if no request had ended since `beginLease`.
    const filled = new ConcurrencyLimiter(this.limits);
    for (const { inFlight, ...key } of capacity.usage) for (let i = 0; i < inFlight; i++) filled.acquire(key);
    for (const key of leased) filled.acquire(key);
    this.isFull ||= leased.length >= capacity.max;
    let mustLeaseAgain = this.isFull && this.available > 0;
    for (const key of filled.endpoints.values()) {
      if (filled.isEndpointFull(key)) this.fullEndpoints.add(endpointId(key));
      if (filled.isMerchantFull(key.merchantId)) this.fullMerchants.add(key.merchantId);
      mustLeaseAgain ||= this.hasWaiters(key) && this.hasCapacityFor(key);
    }
    return mustLeaseAgain;
  }

  private isEndpointFull(key: EndpointKey): boolean {
    return (this.endpoints.get(endpointId(key))?.inFlight ?? 0) >= this.limits.perEndpoint;
  }

  private isMerchantFull(merchantId: number): boolean {
    return (this.merchants.get(merchantId) ?? 0) >= this.limits.perMerchant;
  }
}

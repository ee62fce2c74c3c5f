/** One endpoint (host and port) of one merchant: it has one circuit and one concurrency limit. */
export interface EndpointKey {
  readonly merchantId: number;
  readonly endpoint: string;
}

/** Maximum numbers of requests in flight. */
export interface ConcurrencyLimits {
  readonly total: number;
  readonly perMerchant: number;
  /** For one endpoint of one merchant. */
  readonly perEndpoint: number;
}

export interface EndpointUsage extends EndpointKey {
  readonly inFlight: number;
}

/** The notifications that a lease request may return. */
export interface LeaseCapacity {
  readonly max: number;
  readonly usage: readonly EndpointUsage[];
}

const endpointId = ({ merchantId, endpoint }: EndpointKey): string => `${merchantId} ${endpoint}`;

/**
 * Limits the requests in flight of this process (E6). Pure. A merchant has a limit beside those of its endpoints: without it,
 * a merchant with many endpoints in its sessions would get as many times the slots.
 *
 * After a notification got no slot, new ones get none until the next lease request: otherwise they would overtake those
 * that wait.
 */
export class ConcurrencyLimiter {
  private inFlight = 0;
  private recording = 0;
  private readonly endpoints = new Map<string, EndpointUsage>();
  private readonly merchants = new Map<number, number>();
  private isFull = false;
  /** While a lease request is running, it owns all free slots. */
  private isLeasing = false;
  private readonly fullEndpoints = new Set<string>();
  private readonly fullMerchants = new Set<number>();

  constructor(private readonly limits: ConcurrencyLimits) {}

  /** Free slots, also those that notifications wait for. As many answered attempts as there are slots may wait to be recorded. */
  get available(): number {
    const { total } = this.limits;
    return Math.min(total - this.inFlight, 2 * total - this.inFlight - this.recording);
  }

  get usage(): readonly EndpointUsage[] {
    return [...this.endpoints.values()];
  }

  /** Acquires a slot if one is free and no notification waits for it. */
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
    const name = endpointId(key);
    this.endpoints.set(name, { ...key, inFlight: (this.endpoints.get(name)?.inFlight ?? 0) + 1 });
    this.merchants.set(key.merchantId, (this.merchants.get(key.merchantId) ?? 0) + 1);
  }

  /** The request has ended and its result is being recorded: the slot is free for another request. */
  markRequestEnded(key: EndpointKey): void {
    this.inFlight--;
    this.recording++;
    const name = endpointId(key);
    const inFlight = this.endpoints.get(name)!.inFlight - 1;
    if (inFlight > 0) this.endpoints.set(name, { ...key, inFlight });
    else this.endpoints.delete(name);
    const ofMerchant = this.merchants.get(key.merchantId)! - 1;
    if (ofMerchant > 0) this.merchants.set(key.merchantId, ofMerchant);
    else this.merchants.delete(key.merchantId);
  }

  markRecorded(): void {
    this.recording--;
  }

  /** Whether a slot is free, also if notifications wait for it. */
  hasCapacityFor(key: EndpointKey): boolean {
    return this.available > 0 && !this.isEndpointFull(key) && !this.isMerchantFull(key.merchantId);
  }

  /** Whether notifications may be waiting for a slot that becomes free here. */
  hasWaiters(key: EndpointKey): boolean {
    return this.isFull || this.fullMerchants.has(key.merchantId) || this.fullEndpoints.has(endpointId(key));
  }

  /** Begins a lease request; end it with `endLease` also when it fails. */
  beginLease(): LeaseCapacity {
    this.isLeasing = true;
    this.isFull = false;
    this.fullEndpoints.clear();
    this.fullMerchants.clear();
    return { max: this.available, usage: this.usage };
  }

  /**
   * Ends a lease request, whose notifications have acquired their slots. Where it leased as many as it was allowed to, more may
   * wait. True when such a slot became free during the request: lease again, since nothing else wakes the worker.
   */
  endLease(capacity: LeaseCapacity, leased: readonly EndpointKey[]): boolean {
    this.isLeasing = false;
    const filled = new ConcurrencyLimiter(this.limits);
    for (const { inFlight, ...key } of capacity.usage) for (let i = 0; i < inFlight; i++) filled.acquire(key);
    for (const key of leased) filled.acquire(key);
    this.isFull ||= leased.length >= capacity.max;
    let isFree = this.isFull && this.available > 0;
    for (const key of filled.endpoints.values()) {
      if (filled.isEndpointFull(key)) this.fullEndpoints.add(endpointId(key));
      if (filled.isMerchantFull(key.merchantId)) this.fullMerchants.add(key.merchantId);
      isFree ||= this.hasWaiters(key) && this.hasCapacityFor(key);
    }
    return isFree;
  }

  private isEndpointFull(key: EndpointKey): boolean {
    return (this.endpoints.get(endpointId(key))?.inFlight ?? 0) >= this.limits.perEndpoint;
  }

  private isMerchantFull(merchantId: number): boolean {
    return (this.merchants.get(merchantId) ?? 0) >= this.limits.perMerchant;
  }
}

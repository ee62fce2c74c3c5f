/** Whose notifications share a fate: one endpoint (host and port) of one merchant. What the breaker and the bounds are about. */
export interface Lane {
  readonly merchantId: number;
  readonly endpoint: string;
}

/** How many notifications may be on the wire at once. */
export interface Bounds {
  readonly inAll: number;
  readonly perMerchant: number;
  /** Of one merchant's. */
  readonly perEndpoint: number;
}

export interface BusyLane extends Lane {
  readonly inFlight: number;
}

export interface Asked {
  readonly max: number;
  readonly busy: readonly BusyLane[];
}

const laneName = ({ merchantId, endpoint }: Lane): string => `${merchantId} ${endpoint}`;

/**
 * Which places of this process are taken (E6). Pure. A merchant's places are bounded beside an endpoint's, or one that
 * writes many endpoints into its sessions would have as many times the places.
 *
 * Where there was no room for something, nothing else is let in until the next claim: what was just recorded would
 * overtake what waits.
 */
export class Occupancy {
  private onTheWire = 0;
  private beingWritten = 0;
  private readonly lanes = new Map<string, BusyLane>();
  private readonly merchants = new Map<number, number>();
  private isShort = false;
  /** The room there is belongs to the claim until it has come back. */
  private isClaiming = false;
  private readonly shortLanes = new Set<string>();
  private readonly shortMerchants = new Set<number>();

  constructor(private readonly bounds: Bounds) {}

  /** Places free, whoever may have them. As many tries as there are places may wait for being written meanwhile. */
  get room(): number {
    const { inAll } = this.bounds;
    return Math.min(inAll - this.onTheWire, 2 * inAll - this.onTheWire - this.beingWritten);
  }

  get busy(): readonly BusyLane[] {
    return [...this.lanes.values()];
  }

  /** Takes a place if there is one and nobody waits for it. */
  take(lane: Lane): boolean {
    this.isShort ||= this.isClaiming || this.room <= 0;
    if (this.isLaneFull(lane)) this.shortLanes.add(laneName(lane));
    if (this.isMerchantFull(lane.merchantId)) this.shortMerchants.add(lane.merchantId);
    if (this.isAwaited(lane)) return false;
    this.occupy(lane);
    return true;
  }

  occupy(lane: Lane): void {
    this.onTheWire++;
    const name = laneName(lane);
    this.lanes.set(name, { ...lane, inFlight: (this.lanes.get(name)?.inFlight ?? 0) + 1 });
    this.merchants.set(lane.merchantId, (this.merchants.get(lane.merchantId) ?? 0) + 1);
  }

  /** The endpoint has answered, and what it said is being written. */
  leaveWire(lane: Lane): void {
    this.onTheWire--;
    this.beingWritten++;
    const name = laneName(lane);
    const inFlight = this.lanes.get(name)!.inFlight - 1;
    if (inFlight > 0) this.lanes.set(name, { ...lane, inFlight });
    else this.lanes.delete(name);
    const ofMerchant = this.merchants.get(lane.merchantId)! - 1;
    if (ofMerchant > 0) this.merchants.set(lane.merchantId, ofMerchant);
    else this.merchants.delete(lane.merchantId);
  }

  leave(): void {
    this.beingWritten--;
  }

  /** Whether there is a place for one more, whoever waits for it. */
  hasRoomFor(lane: Lane): boolean {
    return this.room > 0 && !this.isLaneFull(lane) && !this.isMerchantFull(lane.merchantId);
  }

  /** Whether something may wait for a place that becomes free here. */
  isAwaited(lane: Lane): boolean {
    return this.isShort || this.shortMerchants.has(lane.merchantId) || this.shortLanes.has(laneName(lane));
  }

  /** What a claim may fill; taken when it begins, and answered also when it fails. */
  ask(): Asked {
    this.isClaiming = true;
    this.isShort = false;
    this.shortLanes.clear();
    this.shortMerchants.clear();
    return { max: this.room, busy: this.busy };
  }

  /**
   * What that claim found now has its places. Where it took all it was allowed to, more may wait. True when such a place
   * became free while the claim was under way: nobody else will say so, so claim again.
   */
  answered(asked: Asked, claimed: readonly Lane[]): boolean {
    this.isClaiming = false;
    const filled = new Occupancy(this.bounds);
    for (const { inFlight, ...lane } of asked.busy) for (let i = 0; i < inFlight; i++) filled.occupy(lane);
    for (const lane of claimed) filled.occupy(lane);
    this.isShort ||= claimed.length >= asked.max;
    let isFree = this.isShort && this.room > 0;
    for (const lane of filled.lanes.values()) {
      if (filled.isLaneFull(lane)) this.shortLanes.add(laneName(lane));
      if (filled.isMerchantFull(lane.merchantId)) this.shortMerchants.add(lane.merchantId);
      isFree ||= this.isAwaited(lane) && this.hasRoomFor(lane);
    }
    return isFree;
  }

  private isLaneFull(lane: Lane): boolean {
    return (this.lanes.get(laneName(lane))?.inFlight ?? 0) >= this.bounds.perEndpoint;
  }

  private isMerchantFull(merchantId: number): boolean {
    return (this.merchants.get(merchantId) ?? 0) >= this.bounds.perMerchant;
  }
}

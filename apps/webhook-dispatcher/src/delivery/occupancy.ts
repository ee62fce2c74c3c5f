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

/** What a claim may fill. */
export interface Asked {
  readonly max: number;
  readonly busy: readonly BusyLane[];
}

const laneName = ({ merchantId, endpoint }: Lane): string => `${merchantId} ${endpoint}`;

/**
 * Which places of this process are taken (E6). Pure. A merchant's places are bounded beside an endpoint's, or one that
 * writes many endpoints into its sessions would have as many times the places.
 *
 * Where there was no room for something, nothing else is let in until a claim that began later has looked: what was just
 * recorded would overtake what waits.
 */
export class Occupancy {
  private readonly taken = new Taken();
  /** Where something may wait that no claim has looked for yet. */
  private short = new Shortage();
  /** What the claim under way was told to look for. */
  private asked = new Shortage();

  constructor(private readonly bounds: Bounds) {}

  /** Places free, whoever may have them. */
  get room(): number {
    return this.bounds.inAll - this.taken.inAll;
  }

  /** Takes a place if there is one and nobody waits for it. */
  take(lane: Lane): boolean {
    this.short.note(this.taken, this.bounds, lane);
    if (this.isAwaited(lane)) return false;
    this.occupy(lane);
    return true;
  }

  occupy(lane: Lane): void {
    this.taken.occupy(lane);
  }

  /** The endpoint has answered: the place at it is free, the one in all is held until the result is recorded. */
  leaveLane(lane: Lane): void {
    this.taken.leaveLane(lane);
  }

  leave(): void {
    this.taken.inAll--;
  }

  /** Whether something may wait for a place that becomes free here. */
  isAwaited(lane: Lane): boolean {
    return this.short.concerns(lane) || this.asked.concerns(lane);
  }

  /** A claim begins. What is short from now on may be recorded too late for it. */
  ask(): Asked {
    this.asked = this.short.and(this.asked);
    this.short = new Shortage();
    return { max: this.room, busy: [...this.taken.lanes.values()] };
  }

  /**
   * What that claim found has its places. Where it took all it was allowed to, more may wait. True when such a place became
   * free while the claim was under way: nobody else will say so, so claim again.
   */
  answered(asked: Asked, claimed: readonly Lane[]): boolean {
    this.asked = new Shortage();
    const filled = new Taken();
    for (const { inFlight, ...lane } of asked.busy) for (let i = 0; i < inFlight; i++) filled.occupy(lane);
    for (const lane of claimed) filled.occupy(lane);
    if (claimed.length >= asked.max) this.short.inAll = true;
    let hasRoomAgain = this.short.inAll && this.room > 0;
    for (const lane of filled.lanes.values()) {
      this.short.note(filled, { ...this.bounds, inAll: Infinity }, lane);
      hasRoomAgain ||= this.short.concerns(lane) && this.taken.hasRoom(this.bounds, lane);
    }
    return hasRoomAgain;
  }
}

/** Places counted in the three ways in which they are bounded. */
class Taken {
  inAll = 0;
  readonly lanes = new Map<string, BusyLane>();
  private readonly merchants = new Map<number, number>();

  occupy(lane: Lane): void {
    const name = laneName(lane);
    const { merchantId, endpoint } = lane;
    this.inAll++;
    this.lanes.set(name, { merchantId, endpoint, inFlight: (this.lanes.get(name)?.inFlight ?? 0) + 1 });
    this.merchants.set(merchantId, (this.merchants.get(merchantId) ?? 0) + 1);
  }

  leaveLane({ merchantId, endpoint }: Lane): void {
    const name = laneName({ merchantId, endpoint });
    const inFlight = this.lanes.get(name)!.inFlight - 1;
    if (inFlight > 0) this.lanes.set(name, { merchantId, endpoint, inFlight });
    else this.lanes.delete(name);
    const ofMerchant = this.merchants.get(merchantId)! - 1;
    if (ofMerchant > 0) this.merchants.set(merchantId, ofMerchant);
    else this.merchants.delete(merchantId);
  }

  isLaneFull({ perEndpoint }: Bounds, lane: Lane): boolean {
    return (this.lanes.get(laneName(lane))?.inFlight ?? 0) >= perEndpoint;
  }

  isMerchantFull({ perMerchant }: Bounds, { merchantId }: Lane): boolean {
    return (this.merchants.get(merchantId) ?? 0) >= perMerchant;
  }

  hasRoom(bounds: Bounds, lane: Lane): boolean {
    return this.inAll < bounds.inAll && !this.isLaneFull(bounds, lane) && !this.isMerchantFull(bounds, lane);
  }
}

/** Where there was no room for something. */
class Shortage {
  inAll = false;
  private readonly lanes = new Set<string>();
  private readonly merchants = new Set<number>();

  note(taken: Taken, bounds: Bounds, lane: Lane): void {
    if (taken.inAll >= bounds.inAll) this.inAll = true;
    if (taken.isLaneFull(bounds, lane)) this.lanes.add(laneName(lane));
    if (taken.isMerchantFull(bounds, lane)) this.merchants.add(lane.merchantId);
  }

  concerns(lane: Lane): boolean {
    return this.inAll || this.merchants.has(lane.merchantId) || this.lanes.has(laneName(lane));
  }

  and(other: Shortage): Shortage {
    const both = new Shortage();
    both.inAll = this.inAll || other.inAll;
    for (const { lanes, merchants } of [this, other]) {
      for (const lane of lanes) both.lanes.add(lane);
      for (const merchant of merchants) both.merchants.add(merchant);
    }
    return both;
  }
}

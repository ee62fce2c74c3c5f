import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service/standalone';
import { TransformerSettings } from '../settings.js';
import { Store } from '../store/store.js';
import { CALL_HANDLERS, type CallHandlers } from './call-handler.js';
import { Lane, type Outcome } from './lane.js';
import { KINDS_OF_LANE, type LaneName, OutgoingCallRepository } from './outgoing-call.repository.js';
import { Platform } from './platform.js';

const LANES = Object.keys(KINDS_OF_LANE) as LaneName[];

/**
 * Store and forward (T8): makes the calls that wait, each once and in order, across restarts and outages. "Once" is the
 * platform's promise for a call that is repeated: an invoice has its external reference, a refund its Idempotency-Key.
 */
@Injectable()
export class Sender implements OnModuleDestroy {
  private readonly lanes: ReadonlyMap<string, Lane>;

  constructor(
    @Inject(Platform) platform: Platform,
    @Inject(Store) store: Store,
    @Inject(OutgoingCallRepository) calls: OutgoingCallRepository,
    @Inject(CALL_HANDLERS) handlers: CallHandlers,
    @Inject(Clock) clock: Clock,
    @Inject(SERVICE_LOG) log: ServiceLog,
    @Inject(TransformerSettings) private readonly settings: TransformerSettings,
  ) {
    this.lanes = new Map(
      platform.siteIds.flatMap((siteId) =>
        LANES.map((name) => [keyOf(siteId, name), new Lane({ siteId, name, store, calls, handlers, clock, log })]),
      ),
    );
  }

  start(): void {
    for (const lane of this.lanes.values()) lane.start();
  }

  onModuleDestroy(): void {
    for (const lane of this.lanes.values()) lane.stop();
  }

  /** Waits for a call as long as a till does. */
  outcomeOf(siteId: number, lane: LaneName, callId: number): Promise<Outcome> {
    return this.lane(siteId, lane).outcomeOf(callId, this.settings.answerWithinMs[lane]);
  }

  /** Something new waits for the site, without a till that waits. */
  nudge(siteId: number): void {
    for (const name of LANES) void this.lane(siteId, name).drain();
  }

  /** The platform answers again. */
  reachable(siteId: number): void {
    for (const name of LANES) this.lane(siteId, name).reachable();
  }

  isAway(siteId: number): boolean {
    return this.lane(siteId, 'invoices').isAway;
  }

  /** Makes everything that is due; a test steps it. */
  async runOnce(): Promise<void> {
    await Promise.all([...this.lanes.values()].map((lane) => lane.drain()));
  }

  private lane(siteId: number, name: LaneName): Lane {
    return this.lanes.get(keyOf(siteId, name))!;
  }
}

function keyOf(siteId: number, name: LaneName): string {
  return `${siteId} ${name}`;
}

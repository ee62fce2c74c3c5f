import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service/standalone';
import { TransformerSettings } from '../settings.js';
import { Store } from '../store/store.js';
import { CALL_HANDLERS, type CallHandlers } from './call-handler.js';
import { type CallOutcome, CallQueue } from './call-queue.js';
import { KINDS_OF_QUEUE, OutgoingCallRepository, type QueueName } from './outgoing-call.repository.js';
import { Platform } from './platform.js';

const QUEUES = Object.keys(KINDS_OF_QUEUE) as QueueName[];

/**
 * Store and forward (T8): sends the waiting calls in order, across restarts and outages. A call may be sent several
 * times, but the platform executes it once: each total and each refund has an Idempotency-Key
 * of its own.
 */
@Injectable()
export class CallSender implements OnModuleDestroy {
  private readonly queues: ReadonlyMap<string, CallQueue>;

  constructor(
    @Inject(Platform) platform: Platform,
    @Inject(Store) store: Store,
    @Inject(OutgoingCallRepository) calls: OutgoingCallRepository,
    @Inject(CALL_HANDLERS) handlers: CallHandlers,
    @Inject(Clock) clock: Clock,
    @Inject(SERVICE_LOG) log: ServiceLog,
    @Inject(TransformerSettings) private readonly settings: TransformerSettings,
  ) {
    this.queues = new Map(
      platform.siteIds.flatMap((siteId) =>
        QUEUES.map((name) => [
          queueKey(siteId, name),
          new CallQueue({ siteId, name, store, calls, handlers, clock, log, learnTime: () => platform.learnTime() }),
        ]),
      ),
    );
  }

  start(): void {
    for (const queue of this.queues.values()) queue.start();
  }

  onModuleDestroy(): void {
    for (const queue of this.queues.values()) queue.stop();
  }

  /** Waits for the outcome of a call, up to the response timeout of the queue. */
  waitForOutcome(siteId: number, queue: QueueName, callId: number): Promise<CallOutcome> {
    return this.queue(siteId, queue).waitForOutcome(callId, this.settings.responseTimeoutMs[queue]);
  }

  /** Sends the due calls of the site without waiting for them. */
  sendDueCalls(siteId: number): void {
    for (const name of QUEUES) void this.queue(siteId, name).drain();
  }

  /** Ends the backoff of both queues of the site, because the platform is reachable again. */
  markReachable(siteId: number): void {
    for (const name of QUEUES) this.queue(siteId, name).markReachable();
  }

  isUnreachable(siteId: number): boolean {
    return this.queue(siteId, 'invoices').isUnreachable;
  }

  /** Sends all due calls; for tests. */
  async runStep(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.drain()));
  }

  private queue(siteId: number, name: QueueName): CallQueue {
    return this.queues.get(queueKey(siteId, name))!;
  }
}

function queueKey(siteId: number, name: QueueName): string {
  return `${siteId} ${name}`;
}

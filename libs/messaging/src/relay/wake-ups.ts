import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ListeningConnection } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';

/** The kind of rows that the process that relays has to read: events of the log, or replay requests. */
type WakeUpTopic = 'events' | 'replays';

/**
 * Shortest time between two notifications of this process. A process commits thousands of events per second, and the
 * process that relays needs only one notification for all of them.
 */
const SEND_INTERVAL_MS = 5;
const CHECK_INTERVAL_MS = 30_000;
const CHECK_TIMEOUT_MS = 2_000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 60_000;

/**
 * Wakes the replica of a service that relays its log when another replica has committed events, with NOTIFY of
 * PostgreSQL. Notifications may be lost, so the relay also polls. The notification is a statement of its own after the
 * commit, because a NOTIFY inside a transaction lets only one transaction of the server commit at a time.
 *
 * Behind a connection pooler that gives each transaction another session, LISTEN has no effect. Therefore each replica
 * regularly sends a notification to itself. If it does not arrive, {@link areReceived} is false.
 */
export class WakeUps {
  private isListening = false;
  private readonly signal = new Signal();
  private isStopping = false;
  private running: Promise<void> | undefined;
  private isSending = false;
  private readonly unsent = new Set<WakeUpTopic>();
  private pendingCheck: { readonly payload: string; readonly end: (isReceived: boolean) => void } | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly log: MessagingLog,
    /** Called when another replica, or this replica, has sent a wake-up, and when wake-ups may have been lost. */
    private readonly onWakeUp: (topic: WakeUpTopic) => void,
  ) {}

  /** Whether this process receives the wake-ups of other replicas. */
  get areReceived(): boolean {
    return this.isListening;
  }

  start(): void {
    this.isStopping = false;
    this.running ??= this.listen();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.interrupt();
    await this.running;
    this.running = undefined;
  }

  /** Sends a wake-up now, or together with later wake-ups if this process has just sent one. */
  send(topic: WakeUpTopic): void {
    this.unsent.add(topic);
    if (this.isSending) return;
    this.isSending = true;
    void this.sendAll();
  }

  private async sendAll(): Promise<void> {
    while (this.unsent.size > 0) {
      const topics = [...this.unsent];
      this.unsent.clear();
      // If the database is unavailable, the relay finds the events with its next poll.
      await this.notify(topics).catch(() => undefined);
      await pause(SEND_INTERVAL_MS, undefined, { ref: false });
    }
    this.isSending = false;
  }

  /** The services share databases, so the name of the channel contains the service's schema. */
  private notify(payloads: readonly string[]): Promise<unknown> {
    return this.dataSource.query(
      `SELECT pg_notify('relay.' || current_schema(), payload) FROM unnest($1::text[]) AS payload`,
      [payloads],
    );
  }

  private async listen(): Promise<void> {
    let failures = 0;
    while (!this.isStopping) {
      try {
        await this.listenOnce(() => (failures = 0));
      } catch (error) {
        if (isPowerOfTwo(++failures))
          this.log.warn({ err: error, failures }, 'relay: no notifications of other replicas, polling instead');
      }
      if (!this.isStopping) await this.signal.wait(Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS));
    }
  }

  /** Resolves when this object is stopped. Throws when the connection is lost or receives no notifications. */
  private async listenOnce(onReceived: () => void): Promise<void> {
    const [row] = await this.dataSource.query<{ channel: string }[]>(`SELECT 'relay.' || current_schema() AS channel`);
    const connection = await ListeningConnection.open(this.dataSource, row!.channel, (payload) =>
      this.receive(payload),
    );
    let isLost = false;
    void connection.ended.then(() => {
      isLost = true;
      this.interrupt();
    });
    try {
      while (!this.isStopping) {
        const isReceived = await this.check();
        if (isLost) throw new Error('The connection that receives notifications was lost.');
        if (this.isStopping) return;
        if (!isReceived) throw new Error('LISTEN has no effect: is there a connection pooler before the database?');
        if (!this.isListening) this.wakeAfterGap();
        onReceived();
        await this.signal.wait(CHECK_INTERVAL_MS);
      }
    } finally {
      this.isListening = false;
      await connection.close();
    }
  }

  /** Wake-ups may have been lost while this process was not listening. */
  private wakeAfterGap(): void {
    this.isListening = true;
    this.onWakeUp('events');
    this.onWakeUp('replays');
  }

  private receive(payload: string): void {
    if (payload === 'events' || payload === 'replays') this.onWakeUp(payload);
    else if (payload === this.pendingCheck?.payload) this.pendingCheck.end(true);
  }

  /** Sends a notification to this process, through the pool. Resolves to whether it has arrived. */
  private async check(): Promise<boolean> {
    const payload = `check ${randomUUID()}`;
    const received = Promise.withResolvers<boolean>();
    this.pendingCheck = { payload, end: received.resolve };
    const timer = setTimeout(() => received.resolve(false), CHECK_TIMEOUT_MS);
    try {
      await this.notify([payload]);
      return await received.promise;
    } finally {
      clearTimeout(timer);
      this.pendingCheck = undefined;
    }
  }

  /** Ends the current check and the current pause. */
  private interrupt(): void {
    this.pendingCheck?.end(false);
    this.signal.nudge();
  }
}

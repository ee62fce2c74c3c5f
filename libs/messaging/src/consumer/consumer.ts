import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import { inTransaction, loggableMessage, type Transaction } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { MessagingLog } from '../log.js';
import { separateInvalid } from '../validation/message-validator.js';
import type { DeferredEvent, DeferredEvents } from './deferred-events.js';
import { failureCause } from './failure-cause.js';
import { inTraceOf } from './tracing.js';

/** The second parameter of an @EventPattern method. */
export interface ConsumerContext {
  /** The transaction that marks the messages as done. The effect belongs in it, and nothing else. */
  readonly tx: Transaction;
}

/** For a method whose effect is repeatable: no transaction, so that one statement is one round trip. */
export interface RepeatableContext {
  readonly connection: EntityManager;
}

/** The event handlers of a service. */
export interface EventHandlers {
  readonly byType: ReadonlyMap<string, EventHandler>;
  /** Types whose effect needs no inbox entry: see `repeatable` of @EventPattern. */
  readonly repeatable: ReadonlySet<string>;
}

/** Handles a run of events of one type, in the order of the log. */
export type EventHandler = (events: EventEnvelope[], context: ConsumerContext & RepeatableContext) => Promise<unknown>;

/** The delivery failed as a whole and is retried; the cause is not in the messages. */
class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';

  constructor(cause: unknown) {
    super('The database of the consumer is unavailable.', { cause });
  }
}

/** Pauses before the second and each further delivery of a message; after the last it becomes a dead letter. */
const RETRY_PAUSES_MS = [30, 90, 270, 810];
const MAX_DELIVERIES = RETRY_PAUSES_MS.length + 1;
/** Each may have waited for the statement timeout: after so many, the other events of the type are deferred without an attempt. */
const MAX_CONSECUTIVE_BLOCKED = 2;
/** A message that the database blocks for longer than this becomes a dead letter: no lock lasts a day. */
const MAX_BLOCKED_MS = 24 * 3_600_000;
/**
 * Longest wait for a lock. The transaction has written to the inbox by then, so while it waits it holds back the relays of
 * all services on the server. A deferred message waits less, because it is retried many times.
 */
const LOCK_WAIT_MS = 2_000;
const DEFERRED_LOCK_WAIT_MS = 250;
/** The deliveries of a deferred message that its count of attempts does not include. */
const UNCOUNTED_DELIVERIES = 2;

/**
 * Passes events to the handlers of a service. The effect of a batch and its inbox entries are one transaction, so a message
 * that is delivered again finds its entry and does nothing; a repeatable effect needs no entry. When a batch fails, its messages
 * are retried one by one, in rounds: a message that can be handled waits for no other, and one that keeps failing becomes a
 * dead letter.
 *
 * A database error uses up no delivery. While the database is unavailable, the delivery fails as a whole and is retried. A
 * message that a lock or a timeout blocks is deferred, and retried alongside later messages. A timeout can be the message's own
 * fault: it counts when other messages of its type succeed meanwhile.
 */
export class Consumer {
  /** Types that the database blocks: their events are deferred without an attempt, until one succeeds. */
  private readonly blockedTypes = new Set<string>();
  /** Time of the last successful event of each type, in milliseconds. */
  private readonly succeededAt = new Map<string, number>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: EventHandlers,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly deferred: DeferredEvents,
    /** Called after events were deferred that this replica has to retry. */
    private readonly onBlocked: () => void = () => undefined,
  ) {}

  get types(): ReadonlySet<string> {
    return new Set(this.handlers.byType.keys());
  }

  async deliver(events: readonly EventEnvelope[]): Promise<void> {
    const known = events.filter((event) => this.handlers.byType.has(event.type));
    if (known.length < events.length) await this.deferUnknown(events.filter((event) => !known.includes(event)));
    const { valid, invalid } = separateInvalid(known);
    // A retry would give the same result.
    for (const [event, error] of invalid) await this.deadLetter(event, error, 1);
    const blocked = valid.filter(({ type }) => this.blockedTypes.has(type));
    if (blocked.length > 0) await this.deferBlocked(blocked);
    const free = valid.filter((event) => !blocked.includes(event));
    if (free.length > 0) await this.deliverTogether(free);
  }

  /** Handles the due deferred events of this service's types. Returns how many are no longer deferred. */
  async retryDeferred(): Promise<number> {
    const due = await this.deferred.due(this.types);
    const unknown = due.filter(({ reason }) => reason === 'unknown');
    if (unknown.length > 0) {
      await this.deliver(unknown.map(({ envelope }) => envelope));
      await this.deferred.remove(unknown);
    }
    const consecutive = new Map<string, number>();
    let settled = unknown.length;
    for (const event of due) {
      const { type } = event.envelope;
      if (event.reason === 'unknown' || (consecutive.get(type) ?? 0) >= MAX_CONSECUTIVE_BLOCKED) continue;
      const isSettled = await this.retry(event);
      consecutive.set(type, isSettled ? 0 : (consecutive.get(type) ?? 0) + 1);
      if (isSettled) settled++;
    }
    return settled;
  }

  /** False when it is still blocked. */
  private async retry(event: DeferredEvent): Promise<boolean> {
    const { envelope, deferredAt, triedAt, tries } = event;
    try {
      await this.handle([envelope], DEFERRED_LOCK_WAIT_MS);
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) throw error;
      const cause = failureCause(error);
      const isOwnFault = cause === 'timeout' && (this.succeededAt.get(envelope.type) ?? 0) >= triedAt.getTime();
      const ownFaults = event.ownFaults + (isOwnFault ? 1 : 0);
      const isTooLong = this.clock.now().getTime() - deferredAt.getTime() >= MAX_BLOCKED_MS;
      if (cause !== 'message' && (ownFaults >= MAX_DELIVERIES || isTooLong))
        await this.deadLetter(envelope, error, tries + UNCOUNTED_DELIVERIES);
      else if (cause !== 'message' || (await this.deliverOneByOne([envelope])).length > 0) {
        await this.deferred.keepBlocked(event, ownFaults, cause === 'timeout');
        this.onBlocked();
        return false;
      }
    }
    await this.deferred.remove([event]);
    return true;
  }

  private async deliverTogether(events: readonly EventEnvelope[]): Promise<void> {
    try {
      await this.handle(events);
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) throw error;
      const blocked = await this.deliverOneByOne(events);
      if (blocked.length > 0) await this.deferBlocked(blocked);
    }
  }

  private async deferUnknown(unknown: readonly EventEnvelope[]): Promise<void> {
    await this.keep(unknown, 'unknown');
    const types = [...new Set(unknown.map(({ type }) => type))];
    this.log.info({ types, count: unknown.length }, 'consumer: unknown events deferred to a replica that knows them');
  }

  private async deferBlocked(events: readonly EventEnvelope[]): Promise<void> {
    await this.keep(events, 'blocked');
    this.onBlocked();
  }

  private async keep(events: readonly EventEnvelope[], reason: DeferredEvent['reason']): Promise<void> {
    await this.deferred.defer(events, reason).catch((error: unknown) => {
      throw new DatabaseUnavailableError(error);
    });
  }

  /** Returns the events that the database blocks; the others are handled, or dead letters. */
  private async deliverOneByOne(events: readonly EventEnvelope[]): Promise<EventEnvelope[]> {
    const blocked: EventEnvelope[] = [];
    let failed = await this.round(events, blocked);
    for (const pauseMs of RETRY_PAUSES_MS) {
      if (failed.size === 0) return blocked;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      failed = await this.round([...failed.keys()], blocked);
    }
    for (const [event, error] of failed) await this.deadLetter(event, error, MAX_DELIVERIES);
    return blocked;
  }

  /** Attempts each event once. Returns the failed ones with their errors; adds those that the database blocks to `blocked`. */
  private async round(
    events: readonly EventEnvelope[],
    blocked: EventEnvelope[],
  ): Promise<Map<EventEnvelope, unknown>> {
    const failed = new Map<EventEnvelope, unknown>();
    const consecutive = new Map<string, number>();
    for (const event of events) {
      const { type } = event;
      if (this.blockedTypes.has(type)) {
        blocked.push(event);
        continue;
      }
      try {
        await this.handle([event]);
        consecutive.delete(type);
      } catch (error) {
        if (error instanceof DatabaseUnavailableError) throw error;
        if (failureCause(error) === 'message') {
          failed.set(event, error);
          continue;
        }
        blocked.push(event);
        consecutive.set(type, (consecutive.get(type) ?? 0) + 1);
        if (consecutive.get(type) === MAX_CONSECUTIVE_BLOCKED) this.block(type, error);
      }
    }
    return failed;
  }

  private block(type: string, error: unknown): void {
    this.blockedTypes.add(type);
    this.log.warn({ err: error, type }, 'consumer: the database blocks events of this type, so they are deferred');
  }

  private async handle(events: readonly EventEnvelope[], lockWaitMs = LOCK_WAIT_MS): Promise<void> {
    const { repeatable } = this.handlers;
    await inTraceOf(events, () =>
      events.every(({ type }) => repeatable.has(type))
        ? this.repeat(events)
        : this.handleInTransaction(events, lockWaitMs),
    );
    const now = this.clock.now().getTime();
    for (const { type } of events) {
      this.succeededAt.set(type, now);
      if (this.blockedTypes.delete(type)) this.log.info({ type }, 'consumer: events of this type are handled again');
    }
  }

  private async repeat(events: readonly EventEnvelope[]): Promise<void> {
    const byType = new Map<string, EventEnvelope[]>();
    for (const event of new Map(events.map((event) => [event.id, event])).values())
      byType.set(event.type, [...(byType.get(event.type) ?? []), event]);
    // EventPattern gives a repeatable method no type of a transaction.
    const context = { connection: this.dataSource.manager } as ConsumerContext & RepeatableContext;
    try {
      for (const [type, run] of byType) await this.handlers.byType.get(type)!(run, context);
    } catch (error) {
      throw failureCause(error) === 'unavailable' ? new DatabaseUnavailableError(error) : error;
    }
  }

  private async handleInTransaction(events: readonly EventEnvelope[], lockWaitMs: number): Promise<void> {
    let begun = false;
    try {
      await inTransaction(this.dataSource, async (tx) => {
        begun = true;
        const fresh = await this.mark(tx, events, lockWaitMs);
        // delete: an event that is in the batch twice is handled once.
        for (const run of runsOfOneType(events.filter((event) => fresh.delete(event.id)))) {
          await this.handlers.byType.get(run[0]!.type)!(run, { tx, connection: tx });
        }
      });
    } catch (error) {
      // The transaction did not begin, so the cause is not in the messages.
      throw !begun || failureCause(error) === 'unavailable' ? new DatabaseUnavailableError(error) : error;
    }
  }

  /** Also limits the lock waits of the rest of the transaction, without a round trip of its own. */
  private async mark(
    tx: EntityManager,
    events: readonly EventEnvelope[],
    lockWaitMs = LOCK_WAIT_MS,
  ): Promise<Set<string>> {
    const rows = await tx.query<{ message_id: string }[]>(
      `INSERT INTO inbox (message_id, occurred_at)
       SELECT given.* FROM set_config('lock_timeout', $3, true), unnest($1::uuid[], $2::timestamptz[]) AS given
       ON CONFLICT DO NOTHING RETURNING message_id`,
      [events.map((event) => event.id), events.map((event) => event.occurredAt), String(lockWaitMs)],
    );
    return new Set(rows.map((row) => row.message_id));
  }

  private async deadLetter(event: EventEnvelope, error: unknown, deliveries: number): Promise<void> {
    this.log.error({ err: error, messageId: event.id, type: event.type }, 'consumer: message became a dead letter');
    await inTransaction(this.dataSource, async (tx) => {
      await this.mark(tx, [event]);
      await tx.query(
        `INSERT INTO dead_letters (message_id, type, envelope, error, deliveries, failed_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (message_id) DO NOTHING`,
        [event.id, event.type, JSON.stringify(event), reasonOf(error), deliveries, this.clock.now()],
      );
    });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${loggableMessage(error)}`.slice(0, 2000) : `thrown: ${typeof error}`;
}

function runsOfOneType(events: EventEnvelope[]): EventEnvelope[][] {
  const runs: EventEnvelope[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.type === event.type) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

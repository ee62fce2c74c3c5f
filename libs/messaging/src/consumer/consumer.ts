import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import { inTransaction, loggableMessage, type Transaction } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { MessagingLog } from '../log.js';
import { messageValidator } from '../validation/message-validator.js';
import type { DeferredEvent, DeferredEvents } from './deferred-events.js';
import { failureCause } from './failure-cause.js';
import { handleWithSpans } from './tracing.js';

/** The second parameter of an @EventPattern method. */
export interface ConsumerContext {
  /**
   * The transaction that inserts the inbox entries of the messages. The handler writes its effect in this transaction,
   * and in no other place.
   */
  readonly tx: Transaction;
}

/**
 * The second parameter of an @EventPattern method whose effect is idempotent. There is no transaction, so that a
 * handler with one statement needs one round trip.
 */
export interface IdempotentContext {
  readonly connection: EntityManager;
}

/** The event handlers of a service. */
interface EventHandlers {
  readonly byType: ReadonlyMap<string, EventHandler>;
  /** Types whose effect needs no inbox entry: see `idempotent` of @EventPattern. */
  readonly idempotent: ReadonlySet<string>;
}

/** Handles consecutive events of one type, in the order of the log. */
export type EventHandler = (events: EventEnvelope[], context: ConsumerContext & IdempotentContext) => Promise<unknown>;

/** The whole delivery failed because of the database, not because of a message, so the whole delivery is retried. */
class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';

  constructor(cause: unknown) {
    super('The database of the consumer is unavailable.', { cause });
  }
}

/**
 * Pauses before the second and each further delivery of a message. If the last delivery fails too, the message becomes
 * a dead letter.
 */
const RETRY_PAUSES_MS = [30, 90, 270, 810];
const MAX_DELIVERIES = RETRY_PAUSES_MS.length + 1;
/**
 * After this number of consecutive blocked events of a type, further events of the type are deferred without an
 * attempt, because each attempt may last as long as the statement timeout.
 */
const MAX_CONSECUTIVE_BLOCKED = 2;
/** A message that the database blocks for longer than this becomes a dead letter, because no lock lasts a day. */
const MAX_BLOCKED_MS = 24 * 3_600_000;
/**
 * Longest wait for a lock. The transaction has already written to the inbox, so while it waits, it delays
 * all that is older than each open transaction (ADR 41). A deferred message has a shorter limit, because it is retried many times.
 */
const LOCK_WAIT_MS = 2_000;
const DEFERRED_LOCK_WAIT_MS = 250;
/** Number of deliveries before a message is deferred. The stored number of attempts does not include them. */
const UNCOUNTED_DELIVERIES = 2;

/**
 * Passes events to the handlers of a service. The effect of a batch and its inbox entries are written in one
 * transaction. A message that is delivered again already has an inbox entry, so it is not handled again. A message with
 * an idempotent effect needs no entry. When a batch fails, its messages are retried one by one, in rounds. A message
 * that can be handled does not wait for a message that fails, and a message that keeps failing becomes a dead letter.
 *
 * A database error does not count as a failed delivery. While the database is unavailable, the whole delivery fails and
 * is retried. A message that a lock or a timeout blocks is deferred, and retried while later messages are handled. A
 * timeout can also be caused by the message itself, so a timeout counts as a failed delivery if other messages of the
 * same type succeed meanwhile.
 */
export class Consumer {
  /**
   * Types that the database blocks: their events are deferred without an attempt, until an event of the type succeeds.
   */
  private readonly blockedTypes = new Set<string>();
  /** Time of the last successful event of each type, in milliseconds. */
  private readonly succeededAt = new Map<string, number>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: EventHandlers,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly deferred: DeferredEvents,
    /** Called after events were deferred because the database blocks them, so that this replica retries them. */
    private readonly onBlocked: () => void = () => undefined,
  ) {}

  get types(): ReadonlySet<string> {
    return new Set(this.handlers.byType.keys());
  }

  async deliver(events: readonly EventEnvelope[]): Promise<void> {
    const supported = events.filter((event) => this.handlers.byType.has(event.type));
    if (supported.length < events.length) await this.deferUnknown(events.filter((event) => !supported.includes(event)));
    const { valid, invalid } = messageValidator.separateInvalid(supported);
    // There is no retry, because the events would be invalid again.
    for (const [event, error] of invalid) await this.deadLetter(event, error, 1);
    const blocked = valid.filter(({ type }) => this.blockedTypes.has(type));
    if (blocked.length > 0) await this.deferBlocked(blocked);
    const unblocked = valid.filter((event) => !blocked.includes(event));
    if (unblocked.length > 0) await this.handleBatch(unblocked);
  }

  /** Handles the due deferred events of this service's types. Returns how many events are no longer deferred. */
  async retryDeferred(): Promise<number> {
    const due = await this.deferred.findDue(this.types);
    const unknown = due.filter(({ reason }) => reason === 'unknown');
    if (unknown.length > 0) {
      await this.deliver(unknown.map(({ envelope }) => envelope));
      await this.deferred.remove(unknown);
    }
    const consecutiveBlocked = new Map<string, number>();
    let settledCount = unknown.length;
    for (const event of due) {
      const { type } = event.envelope;
      if (event.reason === 'unknown' || (consecutiveBlocked.get(type) ?? 0) >= MAX_CONSECUTIVE_BLOCKED) continue;
      const isSettled = await this.retry(event);
      consecutiveBlocked.set(type, isSettled ? 0 : (consecutiveBlocked.get(type) ?? 0) + 1);
      if (isSettled) settledCount++;
    }
    return settledCount;
  }

  /** Resolves to false if the database still blocks the event. */
  private async retry(event: DeferredEvent): Promise<boolean> {
    const { envelope, deferredAt, lastAttemptAt, attempts } = event;
    try {
      await this.handle([envelope], DEFERRED_LOCK_WAIT_MS);
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) throw error;
      const cause = failureCause(error);
      // If another event of the type has succeeded since the last attempt, this event caused the timeout itself.
      const isOwnTimeout = cause === 'timeout' && (this.succeededAt.get(envelope.type) ?? 0) >= lastAttemptAt.getTime();
      const ownTimeouts = event.ownTimeouts + (isOwnTimeout ? 1 : 0);
      const isBlockedTooLong = this.clock.now().getTime() - deferredAt.getTime() >= MAX_BLOCKED_MS;
      if (cause !== 'message' && (ownTimeouts >= MAX_DELIVERIES || isBlockedTooLong))
        await this.deadLetter(envelope, error, attempts + UNCOUNTED_DELIVERIES);
      // A message that causes the failure itself is delivered again, like a new message, and may become a dead letter.
      else if (cause !== 'message' || (await this.deliverOneByOne([envelope])).length > 0) {
        await this.deferred.postpone(event, ownTimeouts, cause === 'timeout');
        this.onBlocked();
        return false;
      }
    }
    await this.deferred.remove([event]);
    return true;
  }

  private async handleBatch(events: readonly EventEnvelope[]): Promise<void> {
    try {
      await this.handle(events);
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) throw error;
      const blocked = await this.deliverOneByOne(events);
      if (blocked.length > 0) await this.deferBlocked(blocked);
    }
  }

  private async deferUnknown(unknown: readonly EventEnvelope[]): Promise<void> {
    await this.store(unknown, 'unknown');
    const types = [...new Set(unknown.map(({ type }) => type))];
    this.log.info(
      { types, count: unknown.length },
      'consumer: unknown events deferred to a replica that has a handler for them',
    );
  }

  private async deferBlocked(events: readonly EventEnvelope[]): Promise<void> {
    await this.store(events, 'blocked');
    this.onBlocked();
  }

  private async store(events: readonly EventEnvelope[], reason: DeferredEvent['reason']): Promise<void> {
    await this.deferred.defer(events, reason).catch((error: unknown) => {
      throw new DatabaseUnavailableError(error);
    });
  }

  /** Returns the events that the database blocks. All other events have been handled or have become dead letters. */
  private async deliverOneByOne(events: readonly EventEnvelope[]): Promise<EventEnvelope[]> {
    const blocked: EventEnvelope[] = [];
    let failed = await this.attemptEach(events, blocked);
    for (const pauseMs of RETRY_PAUSES_MS) {
      if (failed.size === 0) return blocked;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      failed = await this.attemptEach([...failed.keys()], blocked);
    }
    for (const [event, error] of failed) await this.deadLetter(event, error, MAX_DELIVERIES);
    return blocked;
  }

  /**
   * Attempts each event once. Returns the failed events with their errors. Adds events that the database blocks to
   * `blocked`.
   */
  private async attemptEach(
    events: readonly EventEnvelope[],
    blocked: EventEnvelope[],
  ): Promise<Map<EventEnvelope, unknown>> {
    const failed = new Map<EventEnvelope, unknown>();
    const consecutiveBlocked = new Map<string, number>();
    for (const event of events) {
      const { type } = event;
      if (this.blockedTypes.has(type)) {
        blocked.push(event);
        continue;
      }
      try {
        await this.handle([event]);
        consecutiveBlocked.delete(type);
      } catch (error) {
        if (error instanceof DatabaseUnavailableError) throw error;
        if (failureCause(error) === 'message') {
          failed.set(event, error);
          continue;
        }
        blocked.push(event);
        consecutiveBlocked.set(type, (consecutiveBlocked.get(type) ?? 0) + 1);
        if (consecutiveBlocked.get(type) === MAX_CONSECUTIVE_BLOCKED) this.startDeferring(type, error);
      }
    }
    return failed;
  }

  /** From now on, events of the type are deferred without an attempt, until an event of the type succeeds. */
  private startDeferring(type: string, error: unknown): void {
    this.blockedTypes.add(type);
    this.log.warn({ err: error, type }, 'consumer: the database blocks events of this type, so they are deferred');
  }

  private async handle(events: readonly EventEnvelope[], lockWaitMs = LOCK_WAIT_MS): Promise<void> {
    // Idempotent events never get an inbox entry, not even in a batch with others: otherwise a replay of them would change
    // nothing. They are handled first, because the end of a replay comes after its events.
    const idempotent = events.filter(({ type }) => this.handlers.idempotent.has(type));
    const others = events.filter((event) => !idempotent.includes(event));
    await handleWithSpans(events, async () => {
      if (idempotent.length > 0) await this.handleIdempotent(idempotent);
      if (others.length > 0) await this.handleInTransaction(others, lockWaitMs);
    });
    const now = this.clock.now().getTime();
    for (const { type } of events) {
      this.succeededAt.set(type, now);
      if (this.blockedTypes.delete(type)) this.log.info({ type }, 'consumer: events of this type are handled again');
    }
  }

  private async handleIdempotent(events: readonly EventEnvelope[]): Promise<void> {
    const byType = new Map<string, EventEnvelope[]>();
    for (const event of new Map(events.map((event) => [event.id, event])).values())
      byType.set(event.type, [...(byType.get(event.type) ?? []), event]);
    // The cast is safe: @EventPattern does not let an idempotent method declare a parameter with a transaction.
    const context = { connection: this.dataSource.manager } as ConsumerContext & IdempotentContext;
    try {
      for (const [type, run] of byType) await this.handlers.byType.get(type)!(run, context);
    } catch (error) {
      throw failureCause(error) === 'unavailable' ? new DatabaseUnavailableError(error) : error;
    }
  }

  private async handleInTransaction(events: readonly EventEnvelope[], lockWaitMs: number): Promise<void> {
    let hasBegun = false;
    try {
      await inTransaction(this.dataSource, async (tx) => {
        hasBegun = true;
        const newIds = await this.insertInboxEntries(tx, events, lockWaitMs);
        // delete() returns true only once for each id, so an event that is in the batch twice is handled once.
        for (const run of groupConsecutiveByType(events.filter((event) => newIds.delete(event.id)))) {
          await this.handlers.byType.get(run[0]!.type)!(run, { tx, connection: tx });
        }
      });
    } catch (error) {
      // If the transaction did not begin, the messages did not cause the error.
      throw !hasBegun || failureCause(error) === 'unavailable' ? new DatabaseUnavailableError(error) : error;
    }
  }

  /**
   * Returns the ids that had no inbox entry yet. The same statement limits the lock waits of the whole transaction,
   * which saves a round trip.
   */
  private async insertInboxEntries(
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
      await this.insertInboxEntries(tx, [event]);
      await tx.query(
        `INSERT INTO dead_letters (message_id, type, envelope, error, deliveries, failed_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (message_id) DO NOTHING`,
        [event.id, event.type, JSON.stringify(event), errorText(error), deliveries, this.clock.now()],
      );
    });
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${loggableMessage(error)}`.slice(0, 2000) : `thrown: ${typeof error}`;
}

function groupConsecutiveByType(events: EventEnvelope[]): EventEnvelope[][] {
  const runs: EventEnvelope[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.type === event.type) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

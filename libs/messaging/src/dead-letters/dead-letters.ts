import { type EventEnvelope, isText } from '@svc/contracts';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import type { BrokerDeadLetters } from '../broker/broker.js';
import type { EventHandler } from '../consumer/consumer.js';
import { failureCause } from '../consumer/failure-cause.js';
import { findInvalidity } from '../validation/message-validator.js';

export interface DeadLetter {
  messageId: string;
  type: string;
  aggregateId: string;
  error: string;
  /** Deliveries made before it was given up. */
  deliveries: number;
  failedAt: Date;
}

/** Longest name of an event type that is looked for. */
const TYPE_LENGTH_MAX = 200;

export interface DeadLetterScope {
  readonly type?: string | undefined;
  /** `after` of the page before. */
  readonly after?: string | undefined;
}

export interface DeadLetterPage {
  readonly deadLetters: DeadLetter[];
  /** Where the next page begins; null on the last. */
  readonly after: string | null;
}

export interface ReplayedPage {
  readonly replayed: number;
  readonly failed: number;
  readonly after: string | null;
}

const PAGE_MAX = 200;
const REPLAYED_MAX = 100;

/** Messages whose handler kept failing: to be looked at, and handled again once the cause is mended. */
export class DeadLetters {
  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: ReadonlyMap<string, EventHandler>,
    /** Those that the broker keeps, which never reached a handler; undefined where there is none outside this process. */
    readonly inBroker?: BrokerDeadLetters,
  ) {}

  /** A page of 200, newest first. Without what they carry: that can be large, and is other people's data. */
  async list({ type, after }: DeadLetterScope = {}): Promise<DeadLetterPage> {
    const deadLetters = await this.page(PAGE_MAX, type, after);
    return { deadLetters, after: cursorBehind(deadLetters, PAGE_MAX) };
  }

  /**
   * Replays a page of 100, each as {@link replay} does. Those that fail again stay, so that the next page begins behind
   * them. Replay: one that is replayed already is neither replayed nor failed.
   */
  async replayMany({ type, after }: DeadLetterScope = {}): Promise<ReplayedPage> {
    const page = await this.page(REPLAYED_MAX, type, after);
    let [replayed, failed] = [0, 0];
    for (const { messageId } of page) {
      try {
        await this.replay(messageId);
        replayed++;
      } catch (error) {
        if (failureCause(error) === 'unavailable') throw error;
        if (!(error instanceof DomainError && error.code === 'resource.not-found')) failed++;
      }
    }
    return { replayed, failed, after: cursorBehind(page, REPLAYED_MAX) };
  }

  private async page(limit: number, type: string | undefined, after: string | undefined): Promise<DeadLetter[]> {
    if (type !== undefined && !isText(type, TYPE_LENGTH_MAX))
      throw invalidField('type', 'type must be given once, as text');
    const [failedAt, messageId] = after === undefined ? [null, null] : readCursor(after);
    return this.dataSource.query(
      `SELECT message_id AS "messageId", type, envelope->>'aggregateId' AS "aggregateId", error, deliveries, failed_at AS "failedAt"
         FROM dead_letters
        WHERE ($1::text IS NULL OR type = $1)
          AND ($2::timestamptz IS NULL OR failed_at < $2 OR failed_at = $2 AND message_id > $3::uuid)
        ORDER BY failed_at DESC, message_id LIMIT ${limit}`,
      [type ?? null, failedAt, messageId],
    );
  }

  /**
   * Handles a dead letter again; it is gone when its effect is committed and stays when the handler fails, or when this release still
   * finds it invalid.
   * Replay: the row is locked, so two replays at once handle it once.
   */
  async replay(messageId: string): Promise<void> {
    if (!isUuid(messageId)) throw new DomainError('resource.not-found');
    await inTransaction(this.dataSource, async (tx) => {
      const [row] = await tx.query<{ envelope: EventEnvelope }[]>(
        `SELECT envelope FROM dead_letters WHERE message_id = $1 FOR UPDATE`,
        [messageId],
      );
      if (!row) throw new DomainError('resource.not-found');
      const handle = this.handlers.get(row.envelope.type);
      if (!handle)
        throw new DomainError('resource.conflict', { message: `Nothing here handles ${row.envelope.type} any more.` });
      const invalid = findInvalidity('event', row.envelope.type, row.envelope.payload);
      if (invalid) throw new DomainError('resource.conflict', { message: invalid.message, cause: invalid });
      await handle([row.envelope], { tx, connection: tx });
      await tx.query(`DELETE FROM dead_letters WHERE message_id = $1`, [messageId]);
    });
  }
}

function cursorBehind(page: readonly DeadLetter[], limit: number): string | null {
  const last = page.at(-1);
  return last && page.length === limit ? `${last.failedAt.toISOString()}~${last.messageId}` : null;
}

/** @param after as it was sent: a parameter that is given twice is no text */
function readCursor(after: unknown): [Date, string] {
  const [failedAt, messageId, ...rest] = typeof after === 'string' ? after.split('~') : [];
  const date = new Date(failedAt ?? '');
  if (Number.isNaN(date.getTime()) || !isUuid(messageId) || rest.length > 0)
    throw invalidField('after', 'must be that of the page before');
  return [date, messageId];
}

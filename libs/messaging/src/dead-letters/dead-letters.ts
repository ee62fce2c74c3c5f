import { type EventEnvelope, isText } from '@svc/contracts';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import type { BrokerDeadLetters, BrokerReplay } from '../broker/broker.js';
import type { EventHandler } from '../consumer/consumer.js';
import { countUnhandled, type UnhandledCounts } from '../consumer/count-unhandled.js';
import { failureCause } from '../consumer/failure-cause.js';
import { messageValidator } from '../validation/message-validator.js';

interface DeadLetter {
  messageId: string;
  type: string;
  aggregateId: string;
  error: string;
  /** Number of deliveries before the message became a dead letter. */
  deliveries: number;
  failedAt: Date;
}

/** Longest event type name that a filter accepts. */
const MAX_TYPE_LENGTH = 200;

interface DeadLetterScope {
  readonly type?: string | undefined;
  /** Cursor: `after` of the previous page. */
  readonly after?: string | undefined;
}

export interface DeadLetterPage {
  readonly deadLetters: DeadLetter[];
  /** Cursor of the next page. Null on the last page. */
  readonly after: string | null;
}

export interface ReplayedPage {
  readonly replayed: number;
  readonly failed: number;
  readonly after: string | null;
}

/** A step of the transaction of a replay, after the handler and before the commit: the entry in the audit log. */
type AuditReplay = (tx: Transaction, letter: Pick<DeadLetter, 'messageId' | 'type'>) => Promise<void>;

const NO_AUDIT: AuditReplay = () => Promise.resolve();

const PAGE_SIZE = 200;
const REPLAY_PAGE_SIZE = 100;

/** Messages whose handler kept failing: an administrator inspects them, and replays them once the cause is fixed. */
export class DeadLetters {
  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: ReadonlyMap<string, EventHandler>,
    /** The dead letters in the broker's queue, which never reached a handler. Undefined without an external broker. */
    readonly inBroker?: BrokerDeadLetters,
  ) {}

  /** Returns up to 200 dead letters, newest first, without payloads, which can be large and contain personal data. */
  async list({ type, after }: DeadLetterScope = {}): Promise<DeadLetterPage> {
    const deadLetters = await this.page(PAGE_SIZE, type, after);
    return { deadLetters, after: nextCursor(deadLetters, PAGE_SIZE) };
  }

  /**
   * Calls {@link replay} for each dead letter of a page of 100. Dead letters that fail again stay in the table, and the
   * next page begins after them. A dead letter that another call has already replayed is counted in neither `replayed`
   * nor `failed`. Calls `audit` only for the first dead letter that is replayed.
   */
  async replayMany({ type, after }: DeadLetterScope = {}, audit = NO_AUDIT): Promise<ReplayedPage> {
    const page = await this.page(REPLAY_PAGE_SIZE, type, after);
    let [replayed, failed] = [0, 0];
    for (const { messageId } of page) {
      try {
        await this.replay(messageId, replayed === 0 ? audit : NO_AUDIT);
        replayed++;
      } catch (error) {
        if (failureCause(error) === 'unavailable') throw error;
        if (!(error instanceof DomainError && error.code === 'resource.not-found')) failed++;
      }
    }
    return { replayed, failed, after: nextCursor(page, REPLAY_PAGE_SIZE) };
  }

  private async page(limit: number, type: string | undefined, after: string | undefined): Promise<DeadLetter[]> {
    if (type !== undefined && !isText(type, MAX_TYPE_LENGTH))
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
   * Deletes a dead letter whose effect is not wanted any more, or was brought about by hand. `audit` is called in the same
   * transaction.
   */
  async drop(messageId: string, audit = NO_AUDIT): Promise<void> {
    if (!isUuid(messageId)) throw new DomainError('resource.not-found');
    await inTransaction(this.dataSource, async (tx) => {
      const [[row]] = await tx.query<[{ type: string }[], number]>(
        `DELETE FROM dead_letters WHERE message_id = $1 RETURNING type`,
        [messageId],
      );
      if (!row) throw new DomainError('resource.not-found');
      await audit(tx, { messageId, type: row.type });
    });
  }

  /** Number of dead letters, and of events that wait for a lock or an earlier event. Each count ends at 10 000. */
  count(): Promise<UnhandledCounts> {
    return countUnhandled(this.dataSource);
  }

  /**
   * Replays dead letters of the broker: see {@link BrokerDeadLetters.replay}. Each message has its own transaction, so
   * `audit` has one too, before the first message is handled: no message is handled without an entry in the audit log.
   */
  async replayFromBroker(audit: (tx: Transaction) => Promise<void> = () => Promise.resolve()): Promise<BrokerReplay> {
    const beforeFirst = (): Promise<void> => inTransaction(this.dataSource, audit);
    return (await this.inBroker?.replay(beforeFirst)) ?? { replayed: 0, refused: 0 };
  }

  /**
   * Handles a dead letter again. It is deleted when its effect is committed. It stays if the handler fails or if the
   * message is still invalid for this release. The row is locked, so two concurrent calls handle the message once.
   * `audit` is called after the handler, in the same transaction.
   */
  async replay(messageId: string, audit = NO_AUDIT): Promise<void> {
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
      const invalid = messageValidator.findViolation('event', row.envelope.type, row.envelope.payload);
      if (invalid) throw new DomainError('resource.conflict', { message: invalid.message, cause: invalid });
      await handle([row.envelope], { tx, connection: tx });
      await tx.query(`DELETE FROM dead_letters WHERE message_id = $1`, [messageId]);
      await audit(tx, { messageId, type: row.envelope.type });
    });
  }
}

function nextCursor(page: readonly DeadLetter[], limit: number): string | null {
  const last = page.at(-1);
  return last && page.length === limit ? `${last.failedAt.toISOString()}~${last.messageId}` : null;
}

/** @param after as received: not a string if the query parameter was given twice */
function readCursor(after: unknown): [Date, string] {
  const [failedAt, messageId, ...rest] = typeof after === 'string' ? after.split('~') : [];
  const date = new Date(failedAt ?? '');
  if (Number.isNaN(date.getTime()) || !isUuid(messageId) || rest.length > 0)
    throw invalidField('after', 'must be the cursor of the previous page');
  return [date, messageId];
}

import type { EventEnvelope } from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import type { EventHandler } from './consumer.js';

export interface DeadLetter {
  messageId: string;
  type: string;
  aggregateId: string;
  error: string;
  /** Deliveries made before it was given up. */
  deliveries: number;
  failedAt: Date;
}

/** Messages whose handler kept failing: to be looked at, and handled again once the cause is mended. */
export class DeadLetters {
  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: ReadonlyMap<string, EventHandler>,
  ) {}

  /** Newest first, at most 200. Without what they carry: that can be large, and is other people's data. */
  list(): Promise<DeadLetter[]> {
    return this.dataSource.query(
      `SELECT message_id AS "messageId", type, envelope->>'aggregateId' AS "aggregateId", error, deliveries, failed_at AS "failedAt"
         FROM dead_letters ORDER BY failed_at DESC, message_id LIMIT 200`,
    );
  }

  /**
   * Handles a dead letter again; it is gone when its effect is committed and stays when the handler fails.
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
      await handle([row.envelope], { tx });
      await tx.query(`DELETE FROM dead_letters WHERE message_id = $1`, [messageId]);
    });
  }
}

/**
 * Publishes the events of a service in order, and advances a cursor when RabbitMQ has confirmed them. It reads only
 * events below the snapshot horizon: those of transactions that are older than every open transaction.
 */
import type { ConfirmChannel } from 'amqplib';
import type { Query } from './database.ts';

export const EXCHANGE = 'least.events';
const MAX_BATCH_SIZE = 200;
const POLL_MS = 500;
const CURSOR_SAVE_INTERVAL_MS = 250;

interface EventLogRow {
  readonly txid: string;
  readonly position: string;
  readonly readable: boolean;
  readonly id: string;
  readonly type: string;
  readonly payload: object;
}

export class Relay {
  private isNudged = false;
  private wake: () => void = () => undefined;
  private readonly schema: string;
  private readonly query: Query;
  private readonly channel: ConfirmChannel;

  constructor(schema: string, query: Query, channel: ConfirmChannel) {
    this.schema = schema;
    this.query = query;
    this.channel = channel;
  }

  /** Ends the current wait, because an event was committed. */
  nudge(): void {
    this.isNudged = true;
    this.wake();
  }

  async run(): Promise<never> {
    let [txid, position] = ['0', '0'];
    let savedAt = 0;
    for (;;) {
      const rows = await this.query<EventLogRow>(
        `read ${this.schema}`,
        `SELECT txid::text, position, txid < pg_snapshot_xmin(pg_current_snapshot()) AS readable, id, type, payload
           FROM ${this.schema}.event_log WHERE (txid, position) > ($1::xid8, $2::bigint) ORDER BY txid, position LIMIT ${MAX_BATCH_SIZE}`,
        [txid, position],
      );
      const readable = rows.filter((row) => row.readable);
      for (const { id, type, payload } of readable)
        this.channel.publish(EXCHANGE, type, Buffer.from(JSON.stringify(payload)), { persistent: true, messageId: id });
      const last = readable.at(-1);
      if (last) {
        await this.channel.waitForConfirms();
        ({ txid, position } = last);
      }
      if (performance.now() - savedAt > CURSOR_SAVE_INTERVAL_MS) {
        savedAt = performance.now();
        await this.query(
          `save ${this.schema}`,
          `UPDATE ${this.schema}.relay_cursor SET txid = $1::xid8, position = $2`,
          [txid, position],
        );
      }
      // Rows above the horizon become readable as soon as the open transactions end.
      if (readable.length < MAX_BATCH_SIZE) await this.wait(rows.length > readable.length ? 2 : POLL_MS);
    }
  }

  private async wait(milliseconds: number): Promise<void> {
    if (!this.isNudged)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.wake = () => (clearTimeout(timer), resolve());
      });
    this.isNudged = false;
    this.wake = () => undefined;
  }
}

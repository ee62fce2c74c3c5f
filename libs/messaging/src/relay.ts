import { randomUUID } from 'node:crypto';
import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { Broker, RelayTarget } from './broker.js';
import type { MessagingLog } from './log.js';
import { Signal } from './signal.js';

export interface RelaySettings {
  /** Events read, handed over and marked at once. */
  readonly batchMax: number;
  /** Safety net: a commit in this process nudges the relay, a commit elsewhere is seen after this. */
  readonly pollMs: number;
  /** After a crash another process takes over when this has passed. */
  readonly leaseMs: number;
}

export const RELAY_DEFAULTS: RelaySettings = { batchMax: 200, pollMs: 500, leaseMs: 4_000 };

interface LogRow {
  txid: string;
  position: number;
  id: string;
  type: string;
  aggregate_id: string;
  aggregate_version: number;
  occurred_at: Date;
  traceparent: string | null;
  payload: unknown;
}

/**
 * Reads a service's event log on from a durable cursor and hands it over, for each target separately, so that a
 * slow consumer delays nobody. Reads only below pg_snapshot_xmin, in the order (txid, position): positions are given
 * out before the commit, so a cursor over positions alone would step over a transaction that commits late.
 *
 * The lease keeps two processes from doing the same work; it is not what makes delivery correct. Two relays at once
 * would hand an event over twice, and consumers apply it once.
 */
export class Relay {
  private readonly holder = randomUUID();
  private readonly pumps = new Map<string, { signal: Signal; running: Promise<void> }>();
  private leaseUntil = 0;
  private stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly broker: Broker,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly settings: RelaySettings = RELAY_DEFAULTS,
  ) {}

  /** Begins to relay to every target there is now. */
  async start(): Promise<void> {
    this.stopping = false;
    await this.ensurePartitions();
    for (const target of this.broker.targets()) {
      const signal = new Signal();
      this.pumps.set(target.name, { signal, running: this.pump(target, signal) });
    }
  }

  /** Something was committed. */
  nudge(): void {
    for (const { signal } of this.pumps.values()) signal.nudge();
  }

  /** Ends after the batches under way, and gives the lease back so that the next process need not wait for it. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.nudge();
    await Promise.all([...this.pumps.values()].map(({ running }) => running));
    this.pumps.clear();
    if (this.leaseUntil > 0) {
      await this.dataSource.query(`DELETE FROM relay_lease WHERE name = 'relay' AND holder = $1`, [this.holder]);
      this.leaseUntil = 0;
    }
  }

  /** Hands over everything that can be read now, to every target. For tests and for catching up. */
  async runOnce(): Promise<number> {
    let handedOver = 0;
    for (const target of this.broker.targets()) {
      for (let count = 1; count > 0; handedOver += count) count = await this.handOver(target);
    }
    return handedOver;
  }

  /** Whether every target has been handed everything that was committed. */
  async isCaughtUp(): Promise<boolean> {
    for (const target of this.broker.targets()) if (await this.hasMore(target)) return false;
    return true;
  }

  private async pump(target: RelayTarget, signal: Signal): Promise<void> {
    let failures = 0;
    while (!this.stopping) {
      try {
        if (!(await this.holdLease())) {
          await signal.wait(this.settings.leaseMs / 4);
          continue;
        }
        while (!this.stopping && (await this.handOver(target)) > 0) failures = 0;
        if (this.stopping) return;
        // A nudge can come before the commit is below the horizon: look again at once rather than at the next poll.
        const nudged = await signal.wait(this.settings.pollMs);
        if (nudged && (await this.hasMore(target)) && (await this.handOver(target)) === 0) {
          signal.nudge();
          await pause(HORIZON_PAUSE_MS);
        }
      } catch (error) {
        if (this.stopping) return;
        failures++;
        this.log.warn({ err: error, target: target.name, failures }, 'relay: hand-over failed, will be repeated');
        await pause(Math.min(50 * 2 ** failures, 5_000));
      }
    }
  }

  private async handOver(target: RelayTarget): Promise<number> {
    const cursor = await this.cursorOf(target);
    const rows = await this.dataSource.query<LogRow[]>(
      `SELECT txid::text, position, id, type, aggregate_id, aggregate_version, occurred_at, traceparent, payload
         FROM event_log
        WHERE (txid, position) > ($1::xid8, $2::bigint) AND txid < pg_snapshot_xmin(pg_current_snapshot())
        ORDER BY txid, position LIMIT $3`,
      [cursor.txid, cursor.position, this.settings.batchMax],
    );
    const last = rows.at(-1);
    if (!last) return 0;
    await target.deliver(rows.map(asEnvelope));
    await this.dataSource.query(
      `UPDATE relay_cursors SET txid = $2::xid8, position = $3 WHERE target = $1 AND (txid, position) < ($2::xid8, $3::bigint)`,
      [target.name, last.txid, last.position],
    );
    return rows.length;
  }

  /** A target that is new begins at the beginning: it is told everything that ever happened here. */
  private async cursorOf(target: RelayTarget): Promise<{ txid: string; position: number }> {
    const [cursor] = await this.dataSource.query<{ txid: string; position: number }[]>(
      `SELECT txid::text, position FROM relay_cursors WHERE target = $1`,
      [target.name],
    );
    if (cursor) return cursor;
    await this.dataSource.query(`INSERT INTO relay_cursors (target, txid, position) VALUES ($1, '0', 0) ON CONFLICT DO NOTHING`, [
      target.name,
    ]);
    return { txid: '0', position: 0 };
  }

  private async hasMore(target: RelayTarget): Promise<boolean> {
    const [answer] = await this.dataSource.query<{ more: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM event_log WHERE (txid, position) > (
         coalesce((SELECT txid FROM relay_cursors WHERE target = $1), '0'::xid8),
         coalesce((SELECT position FROM relay_cursors WHERE target = $1), 0))) AS more`,
      [target.name],
    );
    return answer!.more;
  }

  private async holdLease(): Promise<boolean> {
    const now = this.clock.now();
    if (now.getTime() < this.leaseUntil - this.settings.leaseMs / 2) return true;
    const until = this.clock.later(this.settings.leaseMs);
    const [row] = await this.dataSource.query<unknown[]>(
      `INSERT INTO relay_lease (name, holder, expires_at) VALUES ('relay', $1, $2)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
       WHERE relay_lease.holder = excluded.holder OR relay_lease.expires_at < $3
       RETURNING holder`,
      [this.holder, until, now],
    );
    this.leaseUntil = row ? until.getTime() : 0;
    return row !== undefined;
  }

  private async ensurePartitions(): Promise<void> {
    await this.dataSource.query(
      `SELECT ensure_month_partitions(parent, $1::date, 3) FROM unnest(ARRAY['event_log', 'inbox']) AS parent`,
      [this.clock.nowISO().slice(0, 10)],
    );
  }
}

const HORIZON_PAUSE_MS = 2;

function asEnvelope(row: LogRow): EventEnvelope {
  return {
    id: row.id,
    type: row.type,
    aggregateId: row.aggregate_id,
    aggregateVersion: row.aggregate_version,
    occurredAt: row.occurred_at.toISOString(),
    payload: row.payload,
    ...(row.traceparent ? { traceparent: row.traceparent } : {}),
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

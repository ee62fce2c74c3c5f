import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { Broker, RelayTarget } from './broker.js';
import { Lease } from './lease.js';
import type { MessagingLog } from './log.js';
import { Signal } from './signal.js';

export interface RelaySettings {
  /** Events read, handed over and marked at once. */
  readonly batchMax: number;
  /** Bytes of payload after which a batch takes no further event, so that a batch of large events fits in memory. */
  readonly batchBytesMax: number;
  /** Safety net: a commit in this process nudges the relay, a commit elsewhere is seen after this. */
  readonly pollMs: number;
  /** After a crash another process takes over when this has passed. */
  readonly leaseMs: number;
}

export const RELAY_DEFAULTS: RelaySettings = {
  batchMax: 200,
  batchBytesMax: 4 * 1024 * 1024,
  pollMs: 500,
  leaseMs: 4_000,
};

/** Longest pause between two tries to hand the same batch over. */
const FAILURE_PAUSE_MAX_MS = 5_000;

interface LogRow {
  txid: string;
  position: number;
  id: string;
  type: string;
  aggregate_id: string;
  aggregate_version: number;
  occurred_at: Date;
  traceparent: string | null;
  payload: string;
}

/** The loop that hands the log over to one target. */
interface Pump {
  readonly target: RelayTarget;
  /** Nudged by commits. */
  readonly work: Signal;
  readonly end: Signal;
  ending: boolean;
}

/**
 * Reads a service's event log on from a durable cursor and hands it over, for each target separately, so that a
 * slow consumer delays nobody. Reads only below pg_snapshot_xmin, in the order (txid, position): positions are given
 * out before the commit, so a cursor over positions alone would step over a transaction that commits late.
 *
 * Delivers at least once: the cursor moves after the hand-over, and a crash between the two repeats the batch.
 */
export class Relay {
  private readonly lease: Lease;
  private readonly pumps = new Map<Pump, Promise<void>>();
  private unwatch: () => void = () => undefined;
  private partitionedMonth = '';

  constructor(
    private readonly dataSource: DataSource,
    private readonly broker: Broker,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly settings: RelaySettings = RELAY_DEFAULTS,
  ) {
    this.lease = new Lease(dataSource, clock, settings.leaseMs);
  }

  /** Begins to relay to every target there is now, and to those that come later. */
  async start(): Promise<void> {
    await this.ensurePartitions();
    this.unwatch();
    this.unwatch = this.broker.watchTargets(() => this.followTargets());
    this.followTargets();
  }

  /** Something was committed. */
  nudge(): void {
    for (const { work } of this.pumps.keys()) work.nudge();
  }

  /** Ends after the batches under way, and gives the lease back. */
  async stop(): Promise<void> {
    this.unwatch();
    for (const pump of this.pumps.keys()) endPump(pump);
    await Promise.all(this.pumps.values());
    // Without a database the lease cannot be given back and runs out by itself.
    await this.lease.giveBack().catch((error: unknown) => this.log.warn({ err: error }, 'relay: lease not given back'));
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

  private followTargets(): void {
    const targets = new Set(this.broker.targets());
    for (const pump of this.pumps.keys()) if (!targets.delete(pump.target)) endPump(pump);
    for (const target of targets) {
      const pump: Pump = { target, work: new Signal(), end: new Signal(), ending: false };
      this.pumps.set(
        pump,
        this.run(pump).finally(() => this.pumps.delete(pump)),
      );
    }
  }

  private async run(pump: Pump): Promise<void> {
    const { pollMs, leaseMs } = this.settings;
    let failures = 0;
    let nudged = true;
    let blockedMs = 0;
    while (!pump.ending) {
      try {
        if (!(await this.lease.hold())) {
          await pump.end.wait(leaseMs / 4);
          continue;
        }
        await this.ensurePartitions();
        const count = await this.handOver(pump.target);
        if (failures > 0) this.log.info({ target: pump.target.name, failures }, 'relay: hands over again');
        failures = 0;
        if (count > 0) continue;
        // Committed, but not below the horizon while an older transaction is open: look again soon, ever less often.
        const blocked = (nudged || blockedMs > 0) && blockedMs < pollMs && (await this.hasMore(pump.target));
        blockedMs = blocked ? Math.min(Math.max(2, blockedMs * 2), pollMs) : 0;
        nudged = await pump.work.wait(blockedMs || pollMs);
      } catch (error) {
        if (pump.ending) return;
        // While the database is away for an hour, this is said a dozen times, not a thousand.
        if (isPowerOfTwo(++failures)) {
          this.log.warn(
            { err: error, target: pump.target.name, failures },
            'relay: hand-over failed, will be repeated',
          );
        }
        await pump.end.wait(Math.min(25 * 2 ** failures, FAILURE_PAUSE_MAX_MS));
      }
    }
  }

  /** A target that is new begins at the beginning: it is told everything that ever happened here. */
  private async handOver(target: RelayTarget): Promise<number> {
    const rows = await this.dataSource.query<LogRow[]>(
      `SELECT txid::text, position, id, type, aggregate_id, aggregate_version, occurred_at, traceparent, payload
         FROM (SELECT *, sum(octet_length(payload)) OVER (ORDER BY txid, position) - octet_length(payload) AS bytes_before
                 FROM (SELECT txid, position, id, type, aggregate_id, aggregate_version, occurred_at, traceparent,
                              payload::text AS payload
                         FROM event_log
                        WHERE ${BEYOND_CURSOR} AND txid < pg_snapshot_xmin(pg_current_snapshot())
                        ORDER BY txid, position LIMIT $2) AS readable) AS measured
        WHERE bytes_before < $3 ORDER BY measured.txid, position`,
      [target.name, this.settings.batchMax, this.settings.batchBytesMax],
    );
    const last = rows.at(-1);
    if (!last) return 0;
    await target.deliver(rows.map(asEnvelope));
    await this.dataSource.query(
      `INSERT INTO relay_cursors (target, txid, position) VALUES ($1, $2::xid8, $3)
       ON CONFLICT (target) DO UPDATE SET txid = excluded.txid, position = excluded.position
       WHERE (relay_cursors.txid, relay_cursors.position) < (excluded.txid, excluded.position)`,
      [target.name, last.txid, last.position],
    );
    return rows.length;
  }

  private async hasMore(target: RelayTarget): Promise<boolean> {
    const [answer] = await this.dataSource.query<{ more: boolean }[]>(
      `SELECT EXISTS (SELECT 1 FROM event_log WHERE ${BEYOND_CURSOR}) AS more`,
      [target.name],
    );
    return answer!.more;
  }

  /** This month's partitions and the next two's; at the start and whenever a month has begun. */
  private async ensurePartitions(): Promise<void> {
    const today = this.clock.nowISO().slice(0, 10);
    const month = today.slice(0, 7);
    if (this.partitionedMonth === month) return;
    await this.dataSource.query(
      `SELECT ensure_month_partitions(parent, $1::date, 3) FROM unnest(ARRAY['event_log', 'inbox']) AS parent`,
      [today],
    );
    this.partitionedMonth = month;
  }
}

const BEYOND_CURSOR = `(txid, position) > (
  coalesce((SELECT txid FROM relay_cursors WHERE target = $1), '0'::xid8),
  coalesce((SELECT position FROM relay_cursors WHERE target = $1), 0))`;

function endPump(pump: Pump): void {
  pump.ending = true;
  pump.work.nudge();
  pump.end.nudge();
}

function asEnvelope(row: LogRow): EventEnvelope {
  return {
    id: row.id,
    type: row.type,
    aggregateId: row.aggregate_id,
    aggregateVersion: row.aggregate_version,
    occurredAt: row.occurred_at.toISOString(),
    payload: JSON.parse(row.payload) as unknown,
    ...(row.traceparent ? { traceparent: row.traceparent } : {}),
  };
}

function isPowerOfTwo(n: number): boolean {
  return (n & (n - 1)) === 0;
}

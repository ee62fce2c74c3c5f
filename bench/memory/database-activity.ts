/** The work of PostgreSQL during a load, from its statistics: transactions, WAL, connections and the tables' dead rows. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningSystem } from '../platforms/system.ts';
import { type Table, toThreeDigits } from '../report.ts';

type Sql = RunningSystem['sql'];

interface Counters {
  readonly commits: number;
  /** Transactions that have a transaction id, which are those that write. */
  readonly writingTransactions: number;
  readonly walBytes: number;
}

interface TableActivity {
  /** A partitioned table counts as one table. */
  readonly name: string;
  readonly inserts: number;
  readonly updates: number;
  readonly hotUpdates: number;
  readonly deletes: number;
  readonly deadRows: number;
  readonly autovacuums: number;
  readonly mebibytes: number;
}

export interface DatabaseActivity {
  /** For one payment. */
  readonly perPayment: Counters;
  readonly tables: readonly (TableActivity & { readonly maxDeadRows: number })[];
  /** The largest number of connections by role. */
  readonly maxConnections: Readonly<Record<string, number>>;
}

const SAMPLE_EVERY_MS = 5_000;
const MAX_TABLES = 14;

/** Samples the statistics from its construction until `stop`. */
export class DatabaseWatch {
  private readonly sql: Sql;
  private readonly before: Counters;
  private readonly tablesBefore: ReadonlyMap<string, TableActivity>;
  private readonly ended = new AbortController();
  private readonly sampling: Promise<void>;
  private readonly maxDeadRows = new Map<string, number>();
  private readonly maxConnections = new Map<string, number>();

  private constructor(sql: Sql, before: Counters, tablesBefore: ReadonlyMap<string, TableActivity>) {
    this.sql = sql;
    this.before = before;
    this.tablesBefore = tablesBefore;
    this.sampling = this.sample();
  }

  static async start(sql: Sql): Promise<DatabaseWatch> {
    return new DatabaseWatch(sql, await readCounters(sql), await readTables(sql));
  }

  async stop(payments: number): Promise<DatabaseActivity> {
    this.ended.abort();
    await this.sampling;
    const after = await readCounters(this.sql);
    const tables = await readTables(this.sql);
    const divide = (name: keyof Counters): number => (after[name] - this.before[name]) / payments;
    return {
      perPayment: {
        commits: divide('commits'),
        writingTransactions: divide('writingTransactions'),
        walBytes: divide('walBytes'),
      },
      tables: [...tables.values()].map((table) => this.subtractBefore(table)),
      maxConnections: Object.fromEntries(this.maxConnections),
    };
  }

  private subtractBefore(table: TableActivity): DatabaseActivity['tables'][number] {
    const before = this.tablesBefore.get(table.name);
    return {
      ...table,
      inserts: table.inserts - (before?.inserts ?? 0),
      updates: table.updates - (before?.updates ?? 0),
      hotUpdates: table.hotUpdates - (before?.hotUpdates ?? 0),
      deletes: table.deletes - (before?.deletes ?? 0),
      autovacuums: table.autovacuums - (before?.autovacuums ?? 0),
      maxDeadRows: Math.max(this.maxDeadRows.get(table.name) ?? 0, table.deadRows),
    };
  }

  private async sample(): Promise<void> {
    while (!this.ended.signal.aborted) {
      for (const { name, deadRows } of (await readTables(this.sql)).values()) raise(this.maxDeadRows, name, deadRows);
      const connections = await this.sql<{ role: string; connections: number }>(
        `SELECT usename AS role, count(*)::integer AS connections FROM pg_stat_activity
          WHERE datname = current_database() AND usename <> 'postgres' GROUP BY usename`,
      );
      for (const { role, connections: count } of connections) raise(this.maxConnections, role, count);
      await pause(SAMPLE_EVERY_MS, undefined, { signal: this.ended.signal }).catch(() => undefined);
    }
  }
}

function raise(maxima: Map<string, number>, name: string, value: number): void {
  maxima.set(name, Math.max(maxima.get(name) ?? 0, value));
}

async function readCounters(sql: Sql): Promise<Counters> {
  const [row] = await sql<{ commits: string; transactions: string; wal: string }>(
    `SELECT xact_commit AS commits, pg_snapshot_xmax(pg_current_snapshot())::text AS transactions,
            pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal
       FROM pg_stat_database WHERE datname = current_database()`,
  );
  return {
    commits: Number(row!.commits),
    writingTransactions: Number(row!.transactions),
    walBytes: Number(row!.wal),
  };
}

async function readTables(sql: Sql): Promise<Map<string, TableActivity>> {
  // pg_partition_root is NULL for a table that is neither partitioned nor a partition.
  const rows = await sql<TableActivity>(
    `SELECT root.relnamespace::regnamespace || '.' || root.relname AS name,
            sum(n_tup_ins)::float8 AS inserts, sum(n_tup_upd)::float8 AS updates,
            sum(n_tup_hot_upd)::float8 AS "hotUpdates", sum(n_tup_del)::float8 AS deletes,
            sum(n_dead_tup)::float8 AS "deadRows", sum(autovacuum_count)::float8 AS autovacuums,
            (sum(pg_total_relation_size(activity.relid)) / 2 ^ 20)::float8 AS mebibytes
       FROM pg_stat_user_tables AS activity
       JOIN pg_class AS root ON root.oid = coalesce(pg_partition_root(activity.relid), activity.relid)
      GROUP BY root.oid, root.relnamespace, root.relname`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** The tables with the most updated and deleted rows, which are those that vacuum must clean. */
export function toTableOfTables({ tables }: DatabaseActivity): Table {
  const busiest = tables
    .filter(({ updates, deletes }) => updates + deletes > 0)
    .toSorted((left, right) => right.updates + right.deletes - left.updates - left.deletes)
    .slice(0, MAX_TABLES);
  return {
    title: 'Rows of the tables with the most updates and deletions',
    columns: ['', 'inserted', 'updated', 'without index', 'deleted', 'dead, maximum', 'dead, end', 'vacuums', 'MiB'],
    rows: busiest.map((table) => [
      table.name,
      ...[table.inserts, table.updates, table.hotUpdates, table.deletes, table.maxDeadRows, table.deadRows].map(String),
      String(table.autovacuums),
      toThreeDigits(table.mebibytes),
    ]),
  };
}

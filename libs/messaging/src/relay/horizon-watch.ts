import type { DataSource } from 'typeorm';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';

/**
 * The transaction that holds back the relay. Some fields are absent if the service's role has no pg_read_all_stats:
 * PostgreSQL then hides the state and start of other roles' sessions.
 */
interface HorizonHolder {
  /** Absent for a prepared transaction, which belongs to no session. */
  readonly pid?: number;
  /** Identifier of a prepared transaction, which stays until COMMIT PREPARED or ROLLBACK PREPARED. */
  readonly prepared?: string;
  readonly application?: string;
  readonly database?: string;
  readonly state?: string;
  /** ISO 8601 UTC. */
  readonly since?: string;
}

interface HeldBack {
  readonly seconds: number;
  readonly holder: HorizonHolder | undefined;
}

/**
 * Detects that committed events cannot be relayed because an older transaction (the holder) is open in any database of
 * the server. The horizon (pg_snapshot_xmin) is the oldest open transaction, and the relay reads only events of older
 * transactions. Logs a warning once for each holder, and provides {@link heldBack} for the metric.
 */
export class HorizonWatch {
  /** For each target: performance.now() of the first report that the target is blocked. */
  private readonly blockedSince = new Map<string, number>();
  private lastLookupAt = Number.NEGATIVE_INFINITY;
  private isHeldBack = false;
  private since = 0;
  private holder: HorizonHolder | undefined;
  /** Number of different holders since the relay began to be held back. */
  private holders = 0;
  private loggedHolder: string | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly log: MessagingLog,
    /**
     * Shorter delays are normal. The holder is looked up after this delay, and repeatedly after twice this delay.
     */
    private readonly afterMs: number,
  ) {}

  get heldBack(): HeldBack | undefined {
    return this.isHeldBack ? { seconds: this.heldMs() / 1000, holder: this.holder } : undefined;
  }

  /** Call this after each read of the log. `isBlocked`: events are committed, but no committed event can be read. */
  async report(target: string, isBlocked: boolean): Promise<void> {
    if (!isBlocked) return this.clear(target);
    const now = performance.now();
    const since = this.blockedSince.get(target) ?? now;
    this.blockedSince.set(target, since);
    if (now - since < this.afterMs || now - this.lastLookupAt < 2 * this.afterMs) return;
    this.lastLookupAt = now;
    // The error needs no handling here: if the database is unavailable, the next read of the log reports it.
    const holder = await findHorizonHolder(this.dataSource).catch(() => undefined);
    // The transaction may have ended during the query.
    if (this.blockedSince.has(target)) this.setHolder(since, holder);
  }

  private setHolder(since: number, holder: HorizonHolder | undefined): void {
    if (!this.isHeldBack) this.since = since;
    this.isHeldBack = true;
    this.holder = holder;
    const name = JSON.stringify([holder?.pid, holder?.prepared, holder?.since]);
    if (name === this.loggedHolder) return;
    this.loggedHolder = name;
    // If there are many holders one after the other, only some of them are logged.
    if (isPowerOfTwo(++this.holders))
      this.log.warn({ holder, heldMs: this.heldMs() }, 'relay: held back by an older transaction on this server');
  }

  private clear(target: string): void {
    if (!this.blockedSince.delete(target) || this.blockedSince.size > 0 || !this.isHeldBack) return;
    this.log.info({ heldMs: this.heldMs() }, 'relay: no longer held back');
    this.isHeldBack = false;
    this.holder = undefined;
    this.loggedHolder = undefined;
    this.holders = 0;
    this.lastLookupAt = Number.NEGATIVE_INFINITY;
  }

  private heldMs(): number {
    return Math.round(performance.now() - this.since);
  }
}

interface HolderRow {
  pid: number | null;
  prepared: string | null;
  application: string | null;
  database: string | null;
  state: string | null;
  since: Date | null;
}

/** The oldest writing transaction in any database of the server. Undefined when that transaction has just ended. */
async function findHorizonHolder(db: DataSource): Promise<HorizonHolder | undefined> {
  const [row] = await db.query<HolderRow[]>(
    `WITH horizon AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot())::xid AS xid)
     SELECT pid, NULL AS prepared, application_name AS application, datname AS database, state, xact_start AS since
       FROM pg_stat_activity, horizon WHERE backend_xid = horizon.xid
      UNION ALL
     SELECT NULL, gid, NULL, database, 'prepared', prepared FROM pg_prepared_xacts, horizon WHERE transaction = horizon.xid`,
  );
  if (!row) return undefined;
  const { since, ...rest } = row;
  const presentFields = Object.entries({ ...rest, since: since?.toISOString() }).filter(
    ([, value]) => value !== null && value,
  );
  return Object.fromEntries(presentFields);
}

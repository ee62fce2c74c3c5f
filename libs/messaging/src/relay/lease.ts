import { randomUUID } from 'node:crypto';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';

/**
 * The lease of the process that relays a service's log. It keeps two processes from doing the same work, but correct delivery
 * does not depend on it. Two holders at once (clocks that differ, a batch that takes longer than the lease) publish an event
 * twice, and consumers apply it once.
 */
export class Lease {
  private readonly holder = randomUUID();
  private heldUntil = 0;
  private asking: Promise<boolean> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly leaseMs: number,
  ) {}

  /** Whether this process may relay; takes or renews the lease where it can. */
  async acquireOrRenew(): Promise<boolean> {
    if (this.clock.now().getTime() < this.heldUntil - this.leaseMs / 2) return true;
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  /** Lets the next process take the lease before it expires. */
  async release(): Promise<void> {
    if (this.heldUntil === 0) return;
    this.heldUntil = 0;
    await this.dataSource.query(`DELETE FROM relay_lease WHERE name = 'relay' AND holder = $1`, [this.holder]);
  }

  private async ask(): Promise<boolean> {
    const until = this.clock.later(this.leaseMs);
    const [row] = await this.dataSource.query<unknown[]>(
      `INSERT INTO relay_lease (name, holder, expires_at) VALUES ('relay', $1, $2)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
       WHERE relay_lease.holder = excluded.holder OR relay_lease.expires_at <= $3
       RETURNING holder`,
      [this.holder, until, this.clock.now()],
    );
    this.heldUntil = row ? until.getTime() : 0;
    return row !== undefined;
  }
}

import { randomUUID } from 'node:crypto';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';

/**
 * The lease of the process that relays a service's log, so that two processes do not publish the same events. Correct
 * delivery does not depend on the lease: if two processes hold it at the same time (their clocks differ, or a batch
 * lasts longer than the lease), events are published twice, and consumers apply each event once.
 */
export class Lease {
  private readonly holder = randomUUID();
  private heldUntil = 0;
  private pendingRequest: Promise<boolean> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly leaseMs: number,
  ) {}

  get isHeld(): boolean {
    return this.clock.now().getTime() < this.heldUntil;
  }

  /** Milliseconds until {@link acquireOrRenew} renews the lease. */
  get renewalInMs(): number {
    return Math.max(0, this.heldUntil - this.leaseMs / 2 - this.clock.now().getTime());
  }

  /** Acquires or renews the lease if possible. Resolves to true if this process may relay. */
  async acquireOrRenew(): Promise<boolean> {
    if (this.renewalInMs > 0) return true;
    this.pendingRequest ??= this.requestLease().finally(() => (this.pendingRequest = undefined));
    return this.pendingRequest;
  }

  /** Releases the lease, so that another process can acquire it before it expires. */
  async release(): Promise<void> {
    if (this.heldUntil === 0) return;
    this.heldUntil = 0;
    await this.dataSource.query(`DELETE FROM relay_lease WHERE name = 'relay' AND holder = $1`, [this.holder]);
  }

  private async requestLease(): Promise<boolean> {
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

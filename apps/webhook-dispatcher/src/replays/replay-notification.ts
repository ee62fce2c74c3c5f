import { Inject, Injectable } from '@nestjs/common';
import type { DeliveryOwner } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { DueSignal } from '../delivery/due-signal.js';
import { replayRefusal } from '../notifications/notification.js';
import { ReplayRepository } from './replay.repository.js';

/** Of a merchant: only its own site's and mode's, and not twice within this time. An administrator has no such bounds. */
export interface ReplayBounds {
  readonly owner: DeliveryOwner;
  readonly waitMs: number;
}

/**
 * Makes a notification due now, under the same webhook-id, with the whole schedule before it again (E5). Throws
 * `resource.not-found`, also for somebody else's; `resource.conflict` when it may not be sent; `request.rate-limited` within the
 * time that `bounds` have.
 *
 * The session's lock first: without it a success recorded at the same moment would not be seen, and the Failed that
 * is replayed would arrive after it (E2).
 */
@Injectable()
export class ReplayNotification {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(ReplayRepository) private readonly replays: ReplayRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  async execute(id: string, bounds?: ReplayBounds): Promise<void> {
    if (!isUuid(id)) throw new DomainError('resource.not-found');
    await inTransaction(this.dataSource, async (tx) => {
      const found = await this.replays.find(tx, id, bounds?.owner);
      if (!found) throw new DomainError('resource.not-found');
      if (found.sessionId !== null) await this.replays.lockSessions(tx, [found.sessionId]);

      const now = this.clock.now();
      const { replayedAt, ...replayed } = await this.replays.getForUpdate(tx, id, now);
      const refusal = replayRefusal(replayed);
      if (refusal) throw new DomainError('resource.conflict', { message: refusal });
      const waitMs = bounds && replayedAt ? replayedAt.getTime() + bounds.waitMs - now.getTime() : 0;
      if (waitMs > 0) throw new DomainError('request.rate-limited', { retryAfterSeconds: Math.ceil(waitMs / 1000) });

      await this.replays.makeDue(tx, id, now);
      // Whoever replays expects the endpoint to live.
      await this.replays.halfOpenCircuitOf(tx, id, now);
      this.due.afterCommit(tx);
    });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor, personAuthor } from '@svc/auth';
import type { DeliveryOwner } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { DueSignal } from '../delivery/due-signal.js';
import { replayConflict } from '../notifications/notification.js';
import { ReplayRepository } from './replay.repository.js';

/**
 * A replay by a merchant: only notifications of its own site and mode, and each notification only once per interval.
 */
interface MerchantReplay {
  readonly owner: DeliveryOwner;
  readonly minIntervalMs: number;
  /** UUID. A repeat with the same id does nothing, because a request may arrive twice (ADR 68). */
  readonly requestId?: string | undefined;
  /** The person of the merchant, who gets an entry in the audit log. Undefined: the merchant's server. */
  readonly personId?: string | undefined;
}

/** A replay by an administrator: has no limits, and an entry in the audit log (A10). */
interface AdminReplay {
  readonly author: ChangeAuthor;
}

/**
 * Makes a notification due now, with the same webhook-id and a new retry schedule (E5). Throws `resource.not-found` if
 * the notification does not exist or has another owner, `resource.conflict` if it may not be sent, and
 * `request.rate-limited` within the interval of a merchant.
 *
 * The replay locks the session first. Without the lock the replay would not see a Success (the notification of a
 * successful payment) that another transaction is recording, and the merchant could receive the replayed notification
 * of a failed payment after the Success (E2).
 */
@Injectable()
export class ReplayNotification {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(ReplayRepository) private readonly replays: ReplayRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DueSignal) private readonly due: DueSignal,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
  ) {}

  async execute(id: string, by: MerchantReplay | AdminReplay): Promise<void> {
    const limits = 'owner' in by ? by : undefined;
    if (!isUuid(id)) throw new DomainError('resource.not-found');
    await inTransaction(this.dataSource, async (tx) => {
      const found = await this.replays.find(tx, id, limits?.owner);
      if (!found) throw new DomainError('resource.not-found');
      if (found.sessionId !== null) await this.replays.lockSessions(tx, [found.sessionId]);

      const now = this.clock.now();
      const { replayedAt, replayedBy, ...candidate } = await this.replays.getForUpdate(tx, id, now);
      if (replayedBy !== null && replayedBy === limits?.requestId) return;
      const conflict = replayConflict(candidate);
      if (conflict) throw new DomainError('resource.conflict', { message: conflict });
      const waitMs = limits && replayedAt ? replayedAt.getTime() + limits.minIntervalMs - now.getTime() : 0;
      if (waitMs > 0) throw new DomainError('request.rate-limited', { retryAfterSeconds: Math.ceil(waitMs / 1000) });

      await this.replays.makeDue(tx, id, now, limits?.requestId);
      // A person who requests a replay expects the endpoint to be up, so an open circuit must not delay the replay.
      await this.replays.halfOpenCircuit(tx, id, now);
      const entry = { action: 'notification.replayed', after: { notificationId: id } };
      if ('author' in by) await this.audit.append(tx, by.author, entry);
      else if (by.personId !== undefined && by.requestId !== undefined)
        await this.audit.append(tx, personAuthor(by.personId, by.requestId), {
          ...entry,
          merchantId: by.owner.merchantId,
          siteId: by.owner.siteId,
        });
      this.due.afterCommit(tx);
    });
  }
}

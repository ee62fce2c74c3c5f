import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { Clock, invalidField } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { DueSignal } from '../delivery/due-signal.js';
import { FIRST_ID } from '../notifications/list-notifications.query.js';
import { REPLAY_PAGE_SIZE, type ReplayableNotification, ReplayRepository } from './replay.repository.js';
import type { ReplayManyRequest } from './replay-many.request.js';

export interface ReplayedPage {
  /** Number of notifications that are due now. Each of them has the same id as before and a new retry schedule. */
  replayed: number;
  /**
   * Number of selected notifications that are not replayed, because they are being sent, or because they report a
   * failed payment of a session that has been paid (E2).
   */
  skipped: number;
  /** Pass this id as `after` to replay the next page. Null on the last page. */
  after: string | null;
}

/**
 * Replays the notifications that the request selects (E5): makes them due now. Each call replays one page, and the
 * pages begin with the oldest notifications. If the request has no `state`, delivered notifications are replayed too,
 * because the merchant may have lost them. Throws `request.invalid` if the request has neither a `state` nor a
 * `merchantId` with a `since`.
 */
@Injectable()
export class ReplayMany {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(ReplayRepository) private readonly replays: ReplayRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DueSignal) private readonly due: DueSignal,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
  ) {}

  async execute(author: ChangeAuthor, request: ReplayManyRequest): Promise<ReplayedPage> {
    return inTransaction(this.dataSource, async (tx) => {
      const found = await this.find(tx, request);
      if (found.length === 0) return { replayed: 0, skipped: 0, after: null };
      // Waits for transactions that are recording a successful payment of these sessions, so that the next statement
      // sees the notification of this payment (E2).
      await this.replays.lockSessions(
        tx,
        found.flatMap(({ sessionId }) => sessionId ?? []),
      );
      const ids = found.map(({ id }) => id);
      const replayed = await this.replays.makeManyDue(tx, ids, this.clock.now());
      // Wakes the workers after the commit.
      this.due.afterCommit(tx);
      const { merchantId, ...selection } = request;
      if (replayed > 0)
        await this.audit.append(tx, author, {
          action: 'notifications.replayed',
          ...(merchantId === undefined ? {} : { merchantId }),
          after: { ...selection, replayed },
        });
      return {
        replayed,
        skipped: found.length - replayed,
        after: found.length < REPLAY_PAGE_SIZE ? null : found.at(-1)!.id,
      };
    });
  }

  private find(tx: EntityManager, request: ReplayManyRequest): Promise<ReplayableNotification[]> {
    const { state, merchantId = null, endpoint = null, after = FIRST_ID } = request;
    const since = parseSince(request.since);
    if (endpoint !== null && merchantId === null) {
      throw invalidField('merchantId', 'merchantId is required with endpoint: several merchants may share a host');
    }
    const filter = { merchantId, endpoint, since };
    if (merchantId !== null && since !== null) return this.replays.findSince(tx, after, filter, state);
    if (state === undefined) throw invalidField('state', 'state, or merchantId and since, is required');
    return this.replays.findInState(tx, after, filter, state);
  }
}

function parseSince(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const since = new Date(text);
  if (Number.isNaN(since.getTime())) throw invalidField('since', 'since must be a time that exists');
  return since;
}

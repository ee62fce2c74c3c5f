import { Inject, Injectable } from '@nestjs/common';
import { Clock, invalidField } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { DueSignal } from '../delivery/due-signal.js';
import { FIRST_ID } from '../notifications/list-notifications.query.js';
import type { ReplayManyRequest } from './replay-many.request.js';
import { REPLAY_PAGE, type ReplayableNotification, ReplayRepository } from './replay.repository.js';

export interface ReplayedPage {
  /** Due now, each under its id and with the whole schedule before it again. */
  replayed: number;
  /** Left as they are: being sent right now, or a Failed whose session was paid since (E2). */
  skipped: number;
  /** Ask again with it: there are more. Null when this was the last page. */
  after: string | null;
}

/**
 * Makes many notifications due now (E5), the oldest first, a page at a time: what was delivered is among them where its
 * state is not asked for, since the merchant may have lost it. Throws `request.invalid` where it is not said which.
 */
@Injectable()
export class ReplayMany {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(ReplayRepository) private readonly replays: ReplayRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  async execute(request: ReplayManyRequest): Promise<ReplayedPage> {
    return inTransaction(this.dataSource, async (tx) => {
      const found = await this.find(tx, request);
      if (found.length === 0) return { replayed: 0, skipped: 0, after: null };
      // As in replay-notification.ts: a success recorded at this moment must be seen.
      await this.replays.lockSessions(
        tx,
        found.flatMap(({ sessionId }) => sessionId ?? []),
      );
      const ids = found.map(({ id }) => id);
      const replayed = await this.replays.makeManyDue(tx, ids, this.clock.now());
      this.due.afterCommit(tx);
      return {
        replayed,
        skipped: found.length - replayed,
        after: found.length < REPLAY_PAGE ? null : found.at(-1)!.id,
      };
    });
  }

  private find(tx: EntityManager, request: ReplayManyRequest): Promise<ReplayableNotification[]> {
    const { state, merchantId = null, endpoint = null, after = FIRST_ID } = request;
    const since = readSince(request.since);
    if (endpoint !== null && merchantId === null) {
      throw invalidField('merchantId', 'merchantId is required with endpoint: several merchants may share a host');
    }
    const filter = { merchantId, endpoint, since };
    if (merchantId !== null && since !== null) return this.replays.findSince(tx, after, filter, state);
    if (state === undefined) throw invalidField('state', 'state, or merchantId and since, must say what to replay');
    return this.replays.findInState(tx, after, filter, state);
  }
}

function readSince(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const since = new Date(text);
  if (Number.isNaN(since.getTime())) throw invalidField('since', 'since must be a time that exists');
  return since;
}

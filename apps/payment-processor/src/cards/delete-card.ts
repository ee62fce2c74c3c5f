import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirer } from '../acquirers/acquirer.js';
import { type CardOwner, CardRepository } from './card.repository.js';

const POLL_MS = 30_000;
const BATCH_SIZE = 50;

/**
 * Deletes a stored card (P7). Payments reject the card immediately. A job then deletes the card at the acquirer's
 * vault, and retries until the vault confirms the deletion.
 */
@Injectable()
export class DeleteCard implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('deleted cards', POLL_MS, log, () => this.deleteAtAcquirer());
  }

  /**
   * Throws `resource.not-found` for a card of another owner, a deleted card and a malformed token. Does not wait for
   * the vault, because an unavailable vault would block the caller.
   */
  async execute(owner: CardOwner, token: string): Promise<void> {
    if (!isText(token, MAX_IDENTIFIER_LENGTH) || !(await this.cards.delete(owner, token)))
      throw new DomainError('resource.not-found', { message: 'There is no such card.' });
    this.job.trigger();
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Deletes one batch of due cards at the acquirer. Returns true when more cards may be due. */
  async deleteAtAcquirer(): Promise<boolean> {
    const due = await this.cards.findDueForDeletion(BATCH_SIZE);
    let deleted = 0;
    for (const { token, vaultToken, mode } of due) {
      if (await this.acquirer.deleteCard({ vaultToken }, mode)) {
        await this.cards.markDeletedAtAcquirer(token);
        deleted++;
      } else await this.cards.postponeDeletion(token);
    }
    const unconfirmed = due.length - deleted;
    if (unconfirmed > 0)
      this.log.warn({ cards: unconfirmed }, 'the acquirer has not confirmed deletions of cards; the job will retry');
    // A vault that confirmed no deletion is probably unavailable, so the job waits for its next period.
    return due.length === BATCH_SIZE && deleted > 0;
  }
}

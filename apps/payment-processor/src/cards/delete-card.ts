import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerJobs } from '../acquirers/availability/acquirer-jobs.js';
import { type CardOwner, CardRepository } from './card.repository.js';

const POLL_MS = 30_000;
const BATCH_SIZE = 50;

/**
 * Deletes a stored card (P7). Payments reject the card immediately. A job then deletes the card in the vault of its
 * acquirer, and retries until the vault confirms the deletion. The job also deletes the card of one payment after this
 * payment has ended.
 */
@Injectable()
export class DeleteCard implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly jobs: AcquirerJobs;

  constructor(
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.jobs = new AcquirerJobs('deletion of cards', POLL_MS, log, acquirers, (acquirer) =>
      this.deleteAtAcquirer(acquirer),
    );
  }

  /**
   * Throws `resource.not-found` for a card of another owner, a deleted card and a malformed token. Does not wait for
   * the vault, because an unavailable vault would block the caller.
   */
  async execute(owner: CardOwner, token: string): Promise<void> {
    if (!isText(token, MAX_IDENTIFIER_LENGTH) || !(await this.cards.delete(owner, token)))
      throw new DomainError('resource.not-found', { message: 'There is no such card.' });
    this.jobs.trigger();
  }

  onApplicationBootstrap(): void {
    this.jobs.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.jobs.stop();
  }

  /** Deletes one batch of due cards in the vault of this acquirer. Returns true when more cards may be due. */
  async deleteAtAcquirer(name: string): Promise<boolean> {
    const acquirer = this.acquirers.get(name);
    await this.cards.deleteUsed(name);
    const due = await this.cards.findDueForDeletion(name, BATCH_SIZE);
    let deleted = 0;
    for (const { token, mode, ...card } of due) {
      if (await acquirer.deleteCard(card, mode)) {
        await this.cards.markDeletedAtAcquirer(token);
        deleted++;
      } else await this.cards.postponeDeletion(token);
    }
    const unconfirmed = due.length - deleted;
    if (unconfirmed > 0)
      this.log.warn(
        { acquirer: name, cards: unconfirmed },
        'the acquirer has not confirmed deletions of cards; the job will retry',
      );
    // A vault that confirmed no deletion is probably unavailable, so the job waits for its next period.
    return due.length === BATCH_SIZE && deleted > 0;
  }
}

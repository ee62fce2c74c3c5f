import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirer } from '../acquirers/acquirer.js';
import { type CardOwner, CardRepository } from './card.repository.js';

const POLL_MS = 30_000;
const BATCH_MAX = 50;

/** Deletes a stored card (P7): at once for whoever pays with it, and in the acquirer's vault until that has confirmed it. */
@Injectable()
export class DeleteCard implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('forgetting cards', POLL_MS, log, () => this.forgetDeleted());
  }

  /**
   * Throws `resource.not-found` for a card that is not this owner's, or is deleted, and for what cannot be one. Waits for
   * no vault: one that is away would hold the caller for every card that it has not forgotten yet.
   */
  async execute(owner: CardOwner, token: string): Promise<void> {
    if (!isText(token, MAX_IDENTIFIER_LENGTH) || !(await this.cards.delete(owner, token)))
      throw new DomainError('resource.not-found', { message: 'There is no such card.' });
    this.job.soon();
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Returns whether there may be more to forget at once. */
  async forgetDeleted(): Promise<boolean> {
    const asked = await this.cards.findToForget(BATCH_MAX);
    let forgotten = 0;
    for (const { token, vaultToken, mode } of asked) {
      if (await this.acquirer.forgetCard({ vaultToken }, mode)) {
        await this.cards.markForgotten(token);
        forgotten++;
      } else await this.cards.forgetLater(token);
    }
    const unconfirmed = asked.length - forgotten;
    if (unconfirmed > 0)
      this.log.warn({ cards: unconfirmed }, 'deleted cards not removed at the acquirer yet, will be retried');
    // A vault that confirmed none is away: the next of them can wait.
    return asked.length === BATCH_MAX && forgotten > 0;
  }
}

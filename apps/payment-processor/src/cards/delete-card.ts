import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirer } from '../acquirers/acquirer.js';
import { Repeated } from '../payments/repeated.js';
import { type CardOwner, CardRepository } from './card.repository.js';

const POLL_MS = 30_000;
const BATCH_MAX = 50;

/** Deletes a stored card (P7): at once for whoever pays with it, and in the acquirer's vault until that has confirmed it. */
@Injectable()
export class DeleteCard implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly repeated: Repeated;

  constructor(
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.repeated = new Repeated(
      'forgetting cards',
      POLL_MS,
      log,
      async () => (await this.forgetDeleted()) === BATCH_MAX,
    );
  }

  /**
   * Throws `resource.not-found` for a card that is not this owner's, or is deleted, and for what cannot be one. Waits for
   * no vault: one that is away would hold the caller for every card that it has not forgotten yet.
   */
  async execute(owner: CardOwner, token: string): Promise<void> {
    if (!isText(token, MAX_IDENTIFIER_LENGTH) || !(await this.cards.delete(owner, token)))
      throw new DomainError('resource.not-found', { message: 'There is no such card.' });
    this.repeated.soon();
  }

  onApplicationBootstrap(): void {
    this.repeated.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.repeated.stop();
  }

  /** Returns how many the acquirer has forgotten. */
  async forgetDeleted(): Promise<number> {
    let forgotten = 0;
    for (const { token, vaultToken } of await this.cards.findUnforgotten(BATCH_MAX)) {
      if (!(await this.acquirer.forgetCard({ vaultToken }))) continue;
      await this.cards.markForgotten(token);
      forgotten++;
    }
    return forgotten;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { VelocityCounterRepository } from './counters/velocity-counter.repository.js';
import type { VelocitySubject } from './velocity-checks.js';
import { VelocityEnds } from './velocity-ends.js';
import { type CountedCard, VelocityGuard } from './velocity-guard.js';

/**
 * Limits the storing of cards. The acquirer's vault checks the card at its issuer, so a thief could test cards without a
 * payment (P11). A check is in flight while the acquirer is called, and a card that the vault rejects counts as declined.
 */
@Injectable()
export class LimitCardStorage {
  constructor(
    @Inject(VelocityGuard) private readonly guard: VelocityGuard,
    @Inject(VelocityEnds) private readonly ends: VelocityEnds,
    @Inject(VelocityCounterRepository) private readonly counters: VelocityCounterRepository,
  ) {}

  /**
   * Returns the result of `store`. Throws `card.too-many-attempts`, or `service.not-ready` if the range or partner has no attempt
   * left only because others are in flight.
   */
  async execute<Result>(
    subject: VelocitySubject,
    card: CountedCard,
    store: () => Promise<Result | 'invalid'>,
  ): Promise<Result | 'invalid'> {
    const checks = await this.guard.buildChecks(subject, card);
    if (!checks) return store();
    if (!(await this.counters.count(checks))) {
      await this.guard.free(checks);
      const refusal = await this.guard.findRefusal(checks, subject);
      throw new DomainError(refusal ?? 'service.not-ready', refusal ? {} : { retryAfterSeconds: 1 });
    }
    let isDeclined = false;
    try {
      const result = await store();
      isDeclined = result === 'invalid';
      return result;
    } finally {
      await this.counters.end(this.ends.buildForStoredCard(checks, isDeclined));
    }
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { ErrorCode, Mode } from '@svc/contracts';
import { createCounter } from '@svc/kernel';
import { CardFingerprintRepository } from './card-fingerprint.repository.js';
import { type CardFingerprint, CardFingerprints } from './card-fingerprints.js';
import { VelocityCounterRepository } from './counters/velocity-counter.repository.js';
import { type PaymentChecks, VelocityChecks, type VelocitySubject } from './velocity-checks.js';

/** A stored card: this service knows only the hashes of its number. */
export interface FingerprintedCard {
  readonly fingerprint: CardFingerprint;
}
export type CountedCard = { readonly cardNumber: string } | FingerprintedCard;

/**
 * Refuses card payments before the acquirer is called, if they look like tests of stolen cards (P11). A use case builds the
 * checks of a payment, passes them to the statement that accepts the payment, and asks for the reason if the statement has
 * accepted nothing.
 */
@Injectable()
export class VelocityGuard {
  private readonly attempts = createCounter('svc.velocity.attempts');
  private readonly refusals = createCounter('svc.velocity.refusals');

  constructor(
    @Inject(VelocityChecks) private readonly checks: VelocityChecks,
    @Inject(CardFingerprints) private readonly fingerprints: CardFingerprints,
    @Inject(CardFingerprintRepository) private readonly storedFingerprints: CardFingerprintRepository,
    @Inject(VelocityCounterRepository) private readonly counters: VelocityCounterRepository,
  ) {}

  /**
   * Undefined while the limits of the merchant are off.
   *
   * @param paymentId of a payment that is already accepted, without a charge
   */
  async buildChecks(
    subject: VelocitySubject,
    card: CountedCard,
    paymentId?: string,
  ): Promise<PaymentChecks | undefined> {
    const isStored = 'fingerprint' in card;
    const fingerprint = isStored ? card.fingerprint : this.fingerprints.ofCard(subject.mode, card.cardNumber);
    const checks = await this.checks.build(subject, fingerprint, paymentId);
    if (!checks) return undefined;
    this.attempts.add(1, { mode: subject.mode });
    if (!isStored) await this.storedFingerprints.renew(fingerprint);
    return checks;
  }

  /**
   * Frees a payment that was not accepted in the counters in which it was counted nevertheless: its payable was reserved by
   * another payment, or another of its limits refused it. If the process crashes before, it is free after an hour.
   */
  async free(checks: PaymentChecks | undefined): Promise<void> {
    if (checks) await this.counters.free(checks);
  }

  /**
   * Returns `card.too-many-attempts` if a limit refuses the attempt now. The payer does not learn which limit it is.
   */
  async findRefusal(
    checks: PaymentChecks | undefined,
    site: { readonly mode: Mode; readonly siteId?: number },
  ): Promise<ErrorCode | undefined> {
    const limit = checks && (await this.counters.findRefusal(checks, site));
    if (limit === undefined) return undefined;
    this.refusals.add(1, { mode: site.mode, limit });
    return 'card.too-many-attempts';
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { PaymentSnapshot } from '@svc/contracts';
import { Clock, createCounter } from '@svc/kernel';
import { WatchSite } from './attack-levels/watch-site.js';
import type { VelocityEnd, VelocityOutcome } from './counters/end-in-flight.query.js';
import { RecentApprovals } from './recent-approvals.js';
import type { PaymentChecks } from './velocity-checks.js';
import { scopeOf, siteKey } from './velocity-keys.js';
import { DAY_MS, LONGEST_WINDOW_MS, RETENTION_MS } from './velocity-limits.js';

/** A payment that was counted as in flight. */
interface CountedPayment {
  readonly paymentId: string;
  /** Undefined if the merchant had no limits when the payment was accepted. */
  readonly velocityKeys: readonly string[] | undefined;
  /** The payer has confirmed the payment with the bank. */
  readonly isVerified?: boolean;
  readonly payment: Pick<PaymentSnapshot, 'mode' | 'merchantId' | 'siteId'>;
}

/** The acquirer's response. */
interface Response {
  readonly kind: string;
  readonly reason?: string;
  readonly mustNotRetry?: true;
}

/** Computes the effect of the end of a payment on its counters (P11). The statement of the settlement writes it. */
@Injectable()
export class VelocityEnds {
  private readonly declines = createCounter('svc.velocity.declines');

  constructor(
    @Inject(RecentApprovals) private readonly recentApprovals: RecentApprovals,
    @Inject(WatchSite) private readonly watchSite: WatchSite,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * The effect of the acquirer's response. A payment whose payer must confirm it with the bank stays in flight for its card and
   * its address. A decline after the confirmation does not count for the address, because its payer is the owner of the card.
   */
  buildForResponse(payment: CountedPayment, { kind, reason, mustNotRetry }: Response): VelocityEnd | undefined {
    const { velocityKeys: keys, isVerified } = payment;
    if (keys === undefined) return undefined;
    if (kind === 'verificationRequired') {
      const freed = keys.filter((key) => ['range', 'organisation'].includes(scopeOf(key)));
      return this.build(payment.paymentId, keys, 'ended', freed);
    }
    const outcome: VelocityOutcome = kind === 'approved' || kind === 'declined' ? kind : 'ended';
    const { mode, siteId } = payment.payment;
    const isOwner = isVerified === true && reason !== 'verification.failed';
    const end = this.build(
      payment.paymentId,
      keys,
      outcome,
      [...keys, siteKey(mode, siteId)],
      isOwner ? ['address'] : [],
    );
    return kind === 'declined' && mustNotRetry
      ? { ...end, closedUntil: this.clock.later(LONGEST_WINDOW_MS).toISOString() }
      : end;
  }

  /**
   * The effect of a verification that failed, or that the payer has abandoned: it counts as a decline, unless the payer has
   * paid in another way. It does not count for the site: under attack all payers must confirm their payments, and some
   * give up, so that no attack would end.
   */
  buildForVerification({ paymentId, velocityKeys: keys }: CountedPayment, isPaid: boolean): VelocityEnd | undefined {
    return keys && this.build(paymentId, keys, isPaid ? 'ended' : 'declined', keys);
  }

  /** The effect of a check of a card by the acquirer's vault. A good card is no approval: such a check costs a thief nothing. */
  buildForStoredCard({ paymentId, keys }: PaymentChecks, isDeclined: boolean): VelocityEnd {
    return this.build(paymentId, keys, isDeclined ? 'declined' : 'ended', keys);
  }

  /**
   * @param mainCardKey the first of the keys of the payment
   * @param keys of the counters that the end changes
   */
  private build(
    paymentId: string,
    [mainCardKey = '']: readonly string[],
    outcome: VelocityOutcome,
    keys: readonly string[],
    scopesWithoutDecline: readonly string[] = [],
  ): VelocityEnd {
    return {
      ...{ paymentId, outcome, closedUntil: null },
      card: cardHashOf(mainCardKey),
      repeatedSince: this.clock.later(-DAY_MS).toISOString(),
      counters: keys.map((key) => {
        const scope = scopeOf(key);
        return {
          key,
          countsDecline: scope === 'card' ? key === mainCardKey : !scopesWithoutDecline.includes(scope),
          approvals: outcome === 'declined' && scope !== 'card' ? this.recentApprovals.take(key) : 0,
          expiresAt: this.clock.later(RETENTION_MS[scope]).toISOString(),
        };
      }),
    };
  }

  /** Call it when the end is committed. */
  async committed({ payment }: Pick<CountedPayment, 'payment'>, { outcome, counters }: VelocityEnd): Promise<void> {
    const keys = counters.map(({ key }) => key).filter((key) => scopeOf(key) !== 'card');
    if (outcome === 'approved') this.recentApprovals.add(keys);
    if (outcome !== 'declined') return;
    this.declines.add(1, { mode: payment.mode });
    if (keys.some((key) => scopeOf(key) === 'site')) await this.watchSite.execute(payment);
  }
}

/** 32 bits of the hash in the key of a card. */
const cardHashOf = (key: string): number => Buffer.from(key.slice(key.indexOf(':') + 1), 'base64url').readInt32BE();

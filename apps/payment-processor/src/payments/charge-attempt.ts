import { Inject, Injectable } from '@nestjs/common';
import type { Mode, PaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import pLimit from 'p-limit';
import type { Acquirer, CardCharge, ChargeOutcome, VerifiedCharge } from '../acquirers/acquirer.js';
import { type AcquirerRoute, Acquirers } from '../acquirers/acquirers.js';
import { PaymentProcessorConfig } from '../config.js';
import { amountToProcess } from '../payables/amount-to-process.js';
import { needsLeaseBeforeCall } from './attempt.js';
import { AttemptRepository, type ChargeRoute, type OpenAttempt } from './attempt.repository.js';
import { SettleAttempt } from './settle-attempt.js';

/** The source of the money: a card, or the challenge that its owner has passed. */
export type ChargeSource =
  Pick<CardCharge, 'card' | 'payerReturnUrl' | 'payer'> | Pick<VerifiedCharge, 'challengeReference'>;

export type ChargeResult =
  /** `payment` is missing when this answer did not decide it: it is still unknown, or another answer was first. */
  | { readonly kind: 'charged'; readonly payment: PaymentSnapshot | undefined }
  /** Nothing was accepted, and nothing is charged. */
  | { readonly kind: 'notAccepted' }
  /** No slot at the acquirer was free in time: nothing was accepted, and nothing is charged. */
  | { readonly kind: 'busy' }
  /** No acquirer accepts payments of this merchant and mode: nothing was accepted, and nothing is charged. */
  | { readonly kind: 'modeUnavailable' };

/** An order to charge, with its deadline. */
export interface ChargeOrder {
  readonly mode: Mode;
  readonly merchantId: number;
  /** Acquirer and account to use; chosen by merchant and mode if undefined. */
  readonly route?: ChargeRoute;
  /** A call that has not begun by then must not begin. */
  readonly deadline: Date;
  /** Commits the attempt to charge, or returns undefined when the payable was not available. */
  readonly accept: (route: ChargeRoute) => Promise<OpenAttempt | undefined>;
  readonly sourceOf: (attempt: OpenAttempt) => ChargeSource;
}

/**
 * The only way to a charge, for page, partner and verification: (1) take a slot at the acquirer, (2) commit payable,
 * payment and attempt, (3) call the acquirer with the attempt's id as its idempotency key, outside any transaction,
 * (4) commit the outcome. The slot comes first, so that the acceptance is also the lease of the call, and the attempt's age
 * counts from the call. After a crash following (2), {@link RecoverAttempts} queries the acquirer about the attempt.
 */
@Injectable()
export class ChargeAttempt {
  /** Limits concurrent charges at the acquirer. */
  private readonly slots: ReturnType<typeof pLimit>;

  constructor(
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {
    this.slots = pLimit(config.SVC_ACQUIRER_CONCURRENCY);
  }

  async execute({ deadline, accept, sourceOf, ...order }: ChargeOrder): Promise<ChargeResult> {
    const route = await this.routeOf(order);
    if (!route) return { kind: 'modeUnavailable' };
    const { acquirer, account } = route;
    const called = await this.slots(async () => {
      if (!(this.clock.now() < deadline)) return 'busy';
      const attempt = await accept({ acquirer: acquirer.name, account });
      if (attempt === undefined) return 'notAccepted';
      // The database may have delayed the acceptance. The client has got a 503 by now, and may have paid in another way.
      if (!(this.clock.now() < deadline)) return { attempt, outcome: { kind: 'notAttempted' } as const };
      return { attempt, outcome: await this.call(acquirer, attempt, sourceOf(attempt)) };
    });
    if (typeof called === 'string') return { kind: called };
    return { kind: 'charged', payment: await this.settleAttempt.execute(called.attempt, called.outcome) };
  }

  private async routeOf({
    merchantId,
    mode,
    route,
  }: Pick<ChargeOrder, 'merchantId' | 'mode' | 'route'>): Promise<AcquirerRoute | undefined> {
    if (!route) return this.acquirers.find(merchantId, mode);
    const acquirer = this.acquirers.get(route.acquirer);
    return acquirer.serves(mode) ? { acquirer, account: route.account } : undefined;
  }

  private async call(acquirer: Acquirer, attempt: OpenAttempt, source: ChargeSource): Promise<ChargeOutcome> {
    // This process was frozen, or its database slow: another process may have decided to reverse the attempt.
    if (needsLeaseBeforeCall(attempt.startedAt, this.clock.now()) && !(await this.attempts.leaseForCall(attempt)))
      return { kind: 'notAttempted' };
    const { payment } = attempt;
    const terms = {
      account: attempt.account,
      idempotencyKey: attempt.attemptId,
      paymentReference: payment.paymentReference,
      amount: amountToProcess(payment),
      currencyISOCode: payment.currencyISOCode,
    };
    const signal = AbortSignal.timeout(this.config.SVC_ACQUIRER_TIMEOUT_MS);
    return 'challengeReference' in source
      ? acquirer.chargeVerified({ ...terms, ...source }, signal)
      : acquirer.charge({ ...terms, ...source }, signal);
  }
}

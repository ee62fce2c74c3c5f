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
  /**
   * `payment` is undefined when this response did not settle the payment, because the outcome is unknown or another
   * process has settled the payment.
   */
  | { readonly kind: 'charged'; readonly payment: PaymentSnapshot | undefined }
  /** The payable was not available, so no payment was accepted or charged. */
  | { readonly kind: 'notAccepted' }
  /** No slot at the acquirer was free in time, so no payment was accepted or charged. */
  | { readonly kind: 'busy' }
  /** No acquirer accepts payments of this merchant and mode, so no payment was accepted or charged. */
  | { readonly kind: 'modeUnavailable' };

/** A request to charge. */
export interface ChargeRequest {
  readonly mode: Mode;
  readonly merchantId: number;
  /** Acquirer and account to use. If undefined, the merchant and the mode determine them. */
  readonly route?: ChargeRoute;
  /** The call to the acquirer must start before this time. */
  readonly deadline: Date;
  /** Commits the attempt to charge, or returns undefined when the payable was not available. */
  readonly accept: (route: ChargeRoute) => Promise<OpenAttempt | undefined>;
  readonly getSource: (attempt: OpenAttempt) => ChargeSource;
}

/**
 * The only code that charges, for pages, partners and verified payers. The steps: (1) wait for a free slot at the
 * acquirer, (2) commit the reserved payable, the payment and the attempt, (3) call the acquirer outside any
 * transaction, with the attempt's id as idempotency key, (4) commit the outcome. The slot comes first, so that the call
 * starts immediately after the acceptance. Therefore the attempt's age, which is counted from the acceptance, is also
 * the age of the call. If the process crashes after step 2, {@link RecoverAttempts} queries the acquirer about the
 * attempt.
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

  async execute({ deadline, accept, getSource, ...request }: ChargeRequest): Promise<ChargeResult> {
    const route = await this.findRoute(request);
    if (!route) return { kind: 'modeUnavailable' };
    const { acquirer, account } = route;
    const result = await this.slots(async () => {
      if (!(this.clock.now() < deadline)) return 'busy';
      const attempt = await accept({ acquirer: acquirer.name, account });
      if (attempt === undefined) return 'notAccepted';
      // The database may have delayed the acceptance. By now the client has received a 503, and may have paid in
      // another way. Therefore nothing is charged.
      if (!(this.clock.now() < deadline)) return { attempt, outcome: { kind: 'notAttempted' } as const };
      return { attempt, outcome: await this.call(acquirer, attempt, getSource(attempt)) };
    });
    if (typeof result === 'string') return { kind: result };
    return { kind: 'charged', payment: await this.settleAttempt.execute(result.attempt, result.outcome) };
  }

  private async findRoute({
    merchantId,
    mode,
    route,
  }: Pick<ChargeRequest, 'merchantId' | 'mode' | 'route'>): Promise<AcquirerRoute | undefined> {
    if (!route) return this.acquirers.find(merchantId, mode);
    const acquirer = this.acquirers.get(route.acquirer);
    return acquirer.supportsMode(mode) ? { acquirer, account: route.account } : undefined;
  }

  private async call(acquirer: Acquirer, attempt: OpenAttempt, source: ChargeSource): Promise<ChargeOutcome> {
    // If the process was frozen or the database was slow, another process may already have decided to reverse the
    // attempt.
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

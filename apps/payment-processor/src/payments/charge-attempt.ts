import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import type { CardCharge, ChargeOutcome, VerifiedCharge } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerCircuits } from '../acquirers/availability/acquirer-circuits.js';
import { AcquirerMetrics } from '../acquirers/availability/acquirer-metrics.js';
import { PaymentProcessorConfig } from '../config.js';
import { amountToProcess } from '../payables/amount-to-process.js';
import { BankReturnUrls } from '../payer-urls/bank-return-urls.js';
import { needsLeaseBeforeCall } from './attempt.js';
import { AttemptRepository, type OpenAttempt } from './attempt.repository.js';

/** The source of the money: a card, or the challenge that its owner has passed. */
type ChargeSource =
  | (Pick<CardCharge, 'card' | 'pageOrigin' | 'payer'> & {
      /** Page of the shop or partner on which the payer continues after the bank's page; undefined: a page of this service. */
      readonly payerReturnUrl: string | undefined;
    })
  | Pick<VerifiedCharge, 'verification'>;

/**
 * Calls the acquirer for an accepted payment, with the attempt's id as idempotency key. The only code that charges. The
 * steps of a charge are in {@link ChargeCard}, {@link MakePayment} and {@link FinishVerification}: (1) take a permit at
 * the acquirer, (2) commit the reserved payable, the payment and the attempt, (3) call the acquirer outside any
 * transaction, (4) commit the outcome. The permit comes first, so that the call starts immediately after the
 * acceptance. Therefore the attempt's age, which is counted from the acceptance, is also the age of the call. If the
 * process crashes after step 2, {@link RecoverAttempts} queries the acquirer about the attempt. While the circuit of the
 * acquirer is open, step 3 ends without a call.
 */
@Injectable()
export class ChargeAttempt {
  constructor(
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(BankReturnUrls) private readonly returnUrls: BankReturnUrls,
    @Inject(AcquirerCircuits) private readonly circuits: AcquirerCircuits,
    @Inject(AcquirerMetrics) private readonly metrics: AcquirerMetrics,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /** @param deadline the call must start before this time */
  async execute(attempt: OpenAttempt, source: ChargeSource, deadline: Date): Promise<ChargeOutcome> {
    // The database may have delayed the acceptance. By now the client has received a 503, and may have paid in another
    // way. Therefore nothing is charged.
    if (!(this.clock.now() < deadline)) return { kind: 'notAttempted' };
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
    const acquirer = this.acquirers.get(attempt.acquirer);
    const charge = (): Promise<ChargeOutcome> => {
      const signal = AbortSignal.timeout(this.config.SVC_ACQUIRER_TIMEOUT_MS);
      if ('verification' in source) return acquirer.chargeVerified({ ...terms, ...source }, signal);
      const { payerReturnUrl, ...card } = source;
      const bankReturnUrl = this.returnUrls.build(payment.paymentReference, payerReturnUrl);
      const forceVerification = attempt.forcesVerification === true;
      return acquirer.charge({ ...terms, ...card, bankReturnUrl, forceVerification }, signal);
    };
    const outcome = await this.circuits.get(attempt).execute(() => this.metrics.measure(attempt, charge));
    if (outcome) return outcome;
    this.metrics.countWithoutCall(attempt);
    return { kind: 'notAttempted' };
  }
}

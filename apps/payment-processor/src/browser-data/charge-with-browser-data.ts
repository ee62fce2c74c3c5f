import { Inject, Injectable } from '@nestjs/common';
import type { ErrorCode, PayerContext } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { REQUEST_TIMEOUT_MS } from '@svc/messaging';
import type { StoredCard } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerPermits } from '../acquirers/availability/acquirer-permits.js';
import { PaymentProcessorConfig } from '../config.js';
import { findRefusalByState } from '../payables/payable.js';
import { ChargeAttempt } from '../payments/charge-attempt.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { RestoreGate } from '../restore-gate/restore-gate.js';
import type { PaymentChecks } from '../velocity/velocity-checks.js';
import { type FingerprintedCard, VelocityGuard } from '../velocity/velocity-guard.js';
import { type PayerVerification, VerificationRepository } from '../verifications/verification.repository.js';

/**
 * Charges a partner's payment when its payer has opened our page: reserves the payable again with the first attempt, and
 * charges the stored card with the data of the browser. The bank approves, declines, or requires a challenge. Only one of
 * several requests charges, because `resume` changes the version of the payment.
 */
@Injectable()
export class ChargeWithBrowserData {
  constructor(
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(AcquirerPermits) private readonly permits: AcquirerPermits,
    @Inject(ChargeAttempt) private readonly chargeAttempt: ChargeAttempt,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(VelocityGuard) private readonly velocity: VelocityGuard,
    @Inject(RestoreGate) private readonly restoreGate: RestoreGate,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /**
   * Does nothing unless the payment waits for the data of the browser. Returns an error when the payer can try again on
   * the same page.
   */
  async execute(paymentReference: string, payer: PayerContext): Promise<ErrorCode | undefined> {
    if (await this.restoreGate.isClosed()) return 'service.not-ready';
    const open = await this.verifications.findForPayer(paymentReference);
    if (!open?.isOpen || open.verification) return undefined;
    const refusal = findRefusalByState(open.payment.payable.state);
    // The outcome of the payment that has reserved the payable decides whether this payment can continue.
    if (refusal === 'payment.in-progress') return refusal;
    if (open.expiresAt <= this.clock.now()) return this.fail(open, 'verification.abandoned');
    if (refusal) return this.fail(open, refusal);
    // The owner of the card has deleted it.
    if (!open.card) return this.fail(open, 'card.invalid');
    return this.charge(open, open.card, payer);
  }

  private async fail(open: PayerVerification, error: ErrorCode): Promise<undefined> {
    await this.verifications.fail(open, error);
    return undefined;
  }

  /** Without a free permit, and while the circuit is open, nothing changes, so that the payer can try again. */
  private async charge(
    open: PayerVerification,
    card: StoredCard & FingerprintedCard,
    payer: PayerContext,
  ): Promise<ErrorCode | undefined> {
    const { payment, route, payerReturnUrl } = open;
    if (!this.acquirers.acceptsNew(this.acquirers.get(route.acquirer), payment.mode)) return 'acquirer.unavailable';
    const deadline = this.clock.later(REQUEST_TIMEOUT_MS);
    using permit = await this.permits.take(route, deadline);
    if (!permit || permit.isCircuitOpen) return 'acquirer.unavailable';
    const { organisationId } = open;
    const checks = await this.velocity.buildChecks({ ...payment, payer: { organisationId } }, card, open.paymentId);
    const attempt = await this.verifications.resume(open, checks);
    if (!attempt) return this.failIfRefused(open, checks);
    const pageOrigin = new URL(this.config.SVC_API_URL).origin;
    const outcome = await this.chargeAttempt.execute(attempt, { card, payer, payerReturnUrl, pageOrigin }, deadline);
    permit.release();
    await this.settleAttempt.execute(attempt, outcome);
    return undefined;
  }

  /** The payment has a card that is refused now. The payer can pay with another card, as a new payment. */
  private async failIfRefused(open: PayerVerification, checks: PaymentChecks | undefined): Promise<undefined> {
    await this.velocity.free(checks);
    const refusal = await this.velocity.findRefusal(checks, open.payment);
    return refusal && this.fail(open, refusal);
  }
}

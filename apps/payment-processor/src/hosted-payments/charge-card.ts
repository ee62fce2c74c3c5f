import { Inject, Injectable } from '@nestjs/common';
import type { ChargeCard as ChargeCardCommand, ChargeInvoice, PaymentSnapshot } from '@svc/contracts';
import { Clock, DomainError, invalidField, isUuid, newPaymentReference } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { Acquirers, type ChargeRoute } from '../acquirers/acquirers.js';
import { AcquirerPermits } from '../acquirers/availability/acquirer-permits.js';
import { type Card, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { findRefusal } from '../payables/payable.js';
import { PayableRepository } from '../payables/payable.repository.js';
import type { OpenAttempt } from '../payments/attempt.repository.js';
import { ChargeAttempt } from '../payments/charge-attempt.js';
import { acceptedPayment } from '../payments/payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { RestoreGate } from '../restore-gate/restore-gate.js';
import type { PaymentChecks } from '../velocity/velocity-checks.js';
import { VelocityGuard } from '../velocity/velocity-guard.js';

type PageCharge = ChargeCardCommand | ChargeInvoice;

/** Cents. */
interface PayerAmounts {
  readonly amount: number;
  readonly tipAmount: number;
}

type ChargeResult =
  /**
   * `payment` is undefined when this response did not settle the payment, because the outcome is unknown or another
   * process has settled the payment.
   */
  | { readonly kind: 'attempted'; readonly payment: PaymentSnapshot | undefined }
  /**
   * The payable was not available, its merchant or site is unknown, or a limit refuses the card. Nothing was recorded.
   * `checks` is undefined if the merchant has no limits.
   */
  | { readonly kind: 'notAccepted'; readonly checks: PaymentChecks | undefined }
  /** No permit at the acquirer was free in time. Nothing was recorded. */
  | { readonly kind: 'busy' }
  /** No acquirer accepts payments of this merchant and mode. Nothing was recorded. */
  | { readonly kind: 'modeUnavailable' };

/**
 * Makes one card payment for a payer's page (of a hosted session or an invoice). The card is decrypted in memory only.
 * A retry with the same reference returns the payment and charges nothing.
 *
 * One payment needs two round trips to PostgreSQL, two commits and two events. Concurrent payments share statements and
 * commits.
 */
@Injectable()
export class ChargeCard {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(PayableRepository) private readonly payables: PayableRepository,
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(AcquirerPermits) private readonly permits: AcquirerPermits,
    @Inject(ChargeAttempt) private readonly chargeAttempt: ChargeAttempt,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(VelocityGuard) private readonly velocity: VelocityGuard,
    @Inject(RestoreGate) private readonly restoreGate: RestoreGate,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * @param amounts chosen by the payer and already checked against the merchant's terms ({@link ChargeInvoice}). This
   *   method does not read the amounts from the command. The default is the amount of the payable, without a tip
   */
  async execute(
    command: PageCharge,
    amounts: PayerAmounts = { amount: command.payable.amount, tipAmount: 0 },
  ): Promise<PaymentSnapshot> {
    await this.restoreGate.assertOpen();
    if (!isUuid(command.reference)) throw invalidField('reference', 'reference must be a UUID');
    const card = await this.cardKeys.decryptCard(command.encryptedCard, {
      sessionId: command.payable.payableId,
      paymentNumber: command.paymentNumber,
    });
    const result = await this.charge(command, amounts, card);
    if (result.kind === 'attempted' && result.payment) return result.payment;
    // The request is a retry, the outcome is unknown, or the recovery job has ended the attempt. The stored payment has
    // the current state.
    const payment = await this.payments.find(command.payable.payableId, command.reference);
    const checks = result.kind === 'notAccepted' ? result.checks : undefined;
    await this.velocity.free(checks);
    // An earlier payment has used the reference.
    if (payment && payment.payable.paymentCount < command.paymentNumber)
      throw new DomainError('request.idempotency-conflict');
    if (payment) return replayedPayment(payment, amounts);
    if (result.kind === 'modeUnavailable') throw new DomainError('live-mode.unavailable');
    if (result.kind === 'busy') throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return this.reject(command, checks);
  }

  private async charge(command: PageCharge, amounts: PayerAmounts, card: Card): Promise<ChargeResult> {
    const route = await this.acquirers.find(command.payable.merchantId, command.payable.mode);
    if (!route) return { kind: 'modeUnavailable' };
    const deadline = new Date(command.deadline);
    using permit = await this.permits.take(route, deadline);
    if (!permit) return { kind: 'busy' };
    const { payerReturnUrl, payer, payable } = command;
    const checks = await this.velocity.buildChecks({ ...payable, payer: { address: payer.address } }, card);
    const attempt = await this.accept(command, amounts, card, route, checks);
    if (!attempt) return { kind: 'notAccepted', checks };
    const source = { card, payer, payerReturnUrl, pageOrigin: new URL(payerReturnUrl).origin };
    const outcome = await this.chargeAttempt.execute(attempt, source, deadline);
    permit.release();
    return { kind: 'attempted', payment: await this.settleAttempt.execute(attempt, outcome) };
  }

  private async accept(
    command: PageCharge,
    { amount, tipAmount }: PayerAmounts,
    card: Card,
    route: ChargeRoute,
    checks: PaymentChecks | undefined,
  ): Promise<OpenAttempt | undefined> {
    const now = this.clock.now();
    const payment = acceptedPayment({
      payable: command.payable,
      reference: command.reference,
      paymentReference: newPaymentReference(now),
      paymentMethodLabel: cardMask(card),
      paymentNumber: command.paymentNumber,
      now,
      amount,
      tipAmount,
    });
    try {
      return await this.payments.accept(command.payable, payment, route, checks);
    } catch (error) {
      // Another payment with this reference was accepted concurrently.
      if (isUniqueViolation(error, 'payments_idempotency')) throw new DomainError('request.idempotency-conflict');
      throw error;
    }
  }

  private async reject({ payable, paymentNumber: nth }: PageCharge, checks: PaymentChecks | undefined): Promise<never> {
    const current = await this.payables.find(payable.payableId);
    const request = { ...payable, expiresAt: new Date(payable.expiresAt), paymentNumber: nth };
    const refusal = findRefusal(current, request, this.clock.now());
    if (refusal) throw new DomainError(refusal, refusal === 'payment.in-progress' ? { retryAfterSeconds: 2 } : {});
    // The event of the merchant or site has not arrived.
    if (!(await this.payments.knowsNames(payable)))
      throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    const limitRefusal = await this.velocity.findRefusal(checks, payable);
    if (limitRefusal) throw new DomainError(limitRefusal);
    // The payable is free, so only attempts in flight can have used the last attempt of the payer's address or of the
    // card's range. Most end within seconds, and then the same request may be accepted (P11).
    throw new DomainError(checks ? 'request.rate-limited' : 'payment.in-progress', { retryAfterSeconds: 1 });
  }
}

/** Returns the existing payment of a reference. Throws a conflict if the retry has other amounts (C7). */
export function replayedPayment(payment: PaymentSnapshot, { amount, tipAmount }: PayerAmounts): PaymentSnapshot {
  if (payment.amount !== amount || payment.tipAmount !== tipAmount)
    throw new DomainError('request.idempotency-conflict');
  return payment;
}

import { Inject, Injectable } from '@nestjs/common';
import type { AnyPaymentSnapshot, ChargeCard as ChargeCardCommand, ChargeInvoice } from '@svc/contracts';
import { Clock, DomainError, invalidField, isUuid, newPaymentReference } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { type Card, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { refusalOf } from '../payables/payable.js';
import { PayableRepository } from '../payables/payable.repository.js';
import type { ChargeRoute, OpenAttempt } from '../payments/attempt.repository.js';
import { ChargeAttempt } from '../payments/charge-attempt.js';
import { acceptedPayment } from '../payments/payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';

type PageCharge = ChargeCardCommand | ChargeInvoice;

/** Cents. */
export interface PayerAmounts {
  readonly amount: number;
  readonly tipAmount: number;
}

/**
 * Takes one card payment made on a payer's page, of a hosted session or an invoice: the card is opened in memory, then {@link ChargeAttempt} accepts and
 * charges. A repeat of the same reference finds the payment and charges nothing.
 *
 * Two round trips to PostgreSQL, two commits, two events. Payments that come at the same time share statements and commits.
 */
@Injectable()
export class ChargeCard {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(PayableRepository) private readonly payables: PayableRepository,
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
    @Inject(ChargeAttempt) private readonly chargeAttempt: ChargeAttempt,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * @param amounts what the payer chose and the merchant's terms allow ({@link ChargeInvoice}). Never read from the command here:
   *   what is owed is charged unless the caller has checked another amount
   */
  async execute(
    command: PageCharge,
    amounts: PayerAmounts = { amount: command.payable.amount, tipAmount: 0 },
  ): Promise<AnyPaymentSnapshot> {
    if (!isUuid(command.reference)) throw invalidField('reference', 'reference must be a UUID');
    const card = await this.cardKeys.openCard(command.encryptedCard, {
      sessionId: command.payable.payableId,
      try: command.try,
    });
    const result = await this.chargeAttempt.execute({
      mode: command.payable.mode,
      merchantId: command.payable.merchantId,
      deadline: new Date(command.deadline),
      accept: (route) => this.accept(command, amounts, card, route),
      sourceOf: () => ({ card, payerReturnUrl: command.payerReturnUrl, payer: command.payer }),
    });
    if (result.kind === 'charged' && result.payment) return result.payment;
    // A repeat, an outcome that is unknown so far, or the recovery job was first: the payment says what is true.
    const payment = await this.payments.find(command.payable.payableId, command.reference);
    // The reference was that of an earlier try.
    if (payment && payment.payable.tries < command.try) throw new DomainError('request.idempotency-conflict');
    if (payment) return repeated(payment, amounts);
    if (result.kind === 'modeUnavailable') throw new DomainError('live-mode.unavailable');
    if (result.kind === 'busy') throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return this.refuse(command);
  }

  private async accept(
    command: PageCharge,
    { amount, tipAmount }: PayerAmounts,
    card: Card,
    route: ChargeRoute,
  ): Promise<OpenAttempt | undefined> {
    const now = this.clock.now();
    const payment = acceptedPayment({
      payable: command.payable,
      reference: command.reference,
      paymentReference: newPaymentReference(now),
      paymentMethodLabel: cardMask(card),
      try: command.try,
      now,
      amount,
      tipAmount,
    });
    try {
      return await this.payments.accept(command.payable, payment, route);
    } catch (error) {
      // The same, of a try that was accepted meanwhile.
      if (isUniqueViolation(error, 'payments_idempotency')) throw new DomainError('request.idempotency-conflict');
      throw error;
    }
  }

  private async refuse({ payable, try: nth }: PageCharge): Promise<never> {
    const current = await this.payables.find(payable.payableId);
    const asked = { ...payable, expiresAt: new Date(payable.expiresAt), try: nth };
    // Free again: another payer held it when this one asked.
    const refusal = refusalOf(current, asked, this.clock.now()) ?? 'payment.in-progress';
    throw new DomainError(refusal, refusal === 'payment.in-progress' ? { retryAfterSeconds: 2 } : {});
  }
}

/** The payment that a reference has made; the same reference with other amounts is another request (C7). */
export function repeated(payment: AnyPaymentSnapshot, { amount, tipAmount }: PayerAmounts): AnyPaymentSnapshot {
  if (payment.amount !== amount || payment.tipAmount !== tipAmount)
    throw new DomainError('request.idempotency-conflict');
  return payment;
}

import { Inject, Injectable } from '@nestjs/common';
import type { ChargeCard as ChargeCardCommand, PayableDescriptor, AnyPaymentSnapshot } from '@svc/contracts';
import { Clock, DomainError, invalidField, isUuid, newPaymentReference } from '@svc/kernel';
import { Acquirer, type CardCharge } from '../acquirers/acquirer.js';
import { AcquirerCalls } from '../acquirers/acquirer-calls.js';
import { type Card, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { PayableRepository } from '../payables/payable.repository.js';
import { acceptedPayment, amountToProcess } from './payment.js';
import { type OpenAttempt, PaymentRepository } from './payment.repository.js';
import { SettleAttempt } from './settle-attempt.js';

/**
 * Takes one card payment. The order is what makes it safe: (1) the card is opened in memory, (2) payable, payment
 * and attempt are committed, (3) the acquirer is called with the attempt's id as its idempotency key, outside any
 * transaction, (4) the outcome is committed. A crash after (2) leaves an attempt that {@link RecoverAttempts} asks
 * the acquirer about; a repeat of the same reference finds the payment and charges nothing.
 *
 * Two round trips to PostgreSQL, two commits, two events.
 */
@Injectable()
export class ChargeCard {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(PayableRepository) private readonly payables: PayableRepository,
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(AcquirerCalls) private readonly calls: AcquirerCalls,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(command: ChargeCardCommand): Promise<AnyPaymentSnapshot> {
    if (!isUuid(command.reference)) throw invalidField('reference', 'reference must be a UUID');
    const card = await this.cardKeys.openCard(command.encryptedCard, {
      sessionId: command.payable.payableId,
      try: command.try,
    });
    const open = await this.accept(command, card);
    if ('state' in open) return open;

    const charge: CardCharge = {
      idempotencyKey: open.attemptId,
      paymentReference: open.payment.paymentReference,
      amount: amountToProcess(open.payment),
      currencyISOCode: open.payment.currencyISOCode,
      card,
      payerReturnUrl: command.payerReturnUrl,
    };
    const deadline = new Date(command.deadline);
    const outcome = await this.calls.make(deadline, (signal) => this.acquirer.charge(charge, signal));
    // Unknown so far, or the recovery job was told first: the payment says what is true.
    return (await this.settleAttempt.execute(open, outcome)) ?? (await this.present(open));
  }

  private async accept(command: ChargeCardCommand, card: Card): Promise<OpenAttempt | AnyPaymentSnapshot> {
    const now = this.clock.now();
    if (!(now.getTime() < Date.parse(command.deadline)))
      throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    const payment = acceptedPayment({
      payable: command.payable,
      reference: command.reference,
      paymentReference: newPaymentReference(now),
      paymentMethodLabel: cardMask(card),
      try: command.try,
      now,
    });
    const open = await this.payments.accept(command.payable, payment, this.acquirer.name);
    return (
      open ??
      (await this.payments.find(command.payable.payableId, command.reference)) ??
      (await this.refuse(command.payable))
    );
  }

  /** Says why the payable could not be had. */
  private async refuse(payable: PayableDescriptor): Promise<never> {
    const standing = await this.payables.find(payable.payableId);
    if (standing?.state === 'paid') throw new DomainError('payable.paid');
    if (standing?.state === 'refused') throw new DomainError('payable.refused');
    if (standing?.state === 'closed') throw new DomainError('payable.closed');
    if (Date.parse(payable.expiresAt) <= this.clock.now().getTime()) throw new DomainError('payable.expired');
    if (standing && (standing.amount !== payable.amount || standing.currency !== payable.currencyISOCode))
      throw new DomainError('payable.mismatch');
    // Reserved by another payer, or a page that does not know of the latest try yet.
    throw new DomainError('payment.in-progress', { retryAfterSeconds: 2 });
  }

  private async present({ payment }: OpenAttempt): Promise<AnyPaymentSnapshot> {
    return (await this.payments.find(payment.payable.payableId, payment.reference)) ?? payment;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { ChargeInvoice as ChargeInvoiceCommand, PaymentSnapshot } from '@svc/contracts';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import { MerchantTermsQuery } from '../merchants/merchant-terms.query.js';
import { checkChosenAmounts } from '../partner-payments/payment-terms.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { ChargeCard, replayedPayment } from './charge-card.js';

/**
 * Makes a card payment from the page of a till's invoice. This class first checks the merchant's terms, as for
 * partners' payments. {@link ChargeCard} then charges the card. The payer is anonymous, so vouchers and external
 * payments are impossible. The schema of the command rejects payables of hosted sessions, because a session must be
 * paid in full (ADR 62).
 */
@Injectable()
export class ChargeInvoice {
  constructor(
    @Inject(MerchantTermsQuery) private readonly merchantTerms: MerchantTermsQuery,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ChargeCard) private readonly chargeCard: ChargeCard,
  ) {}

  async execute(command: ChargeInvoiceCommand): Promise<PaymentSnapshot> {
    const { payable, reference, amount, tipAmount } = command;
    if (!isUuid(reference)) throw invalidField('reference', 'reference must be a UUID');
    const terms = await this.merchantTerms.find(payable.merchantId);
    try {
      // The merchant's terms have not arrived yet.
      if (!terms) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
      checkChosenAmounts(command, { amount: payable.amount, ...terms });
    } catch (error) {
      // A retry must return the existing payment even if the terms have changed.
      const existing = await this.payments.find(payable.payableId, reference);
      if (existing) return replayedPayment(existing, { amount, tipAmount });
      throw error;
    }
    return this.chargeCard.execute(command, { amount, tipAmount });
  }
}

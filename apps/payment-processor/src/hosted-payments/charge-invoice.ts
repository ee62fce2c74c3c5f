import { Inject, Injectable } from '@nestjs/common';
import type { AnyPaymentSnapshot, ChargeInvoice as ChargeInvoiceCommand } from '@svc/contracts';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import { MerchantTermsQuery } from '../merchants/merchant-terms.query.js';
import { checkChosenAmounts } from '../partner-payments/payment-terms.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { ChargeCard, repeated } from './charge-card.js';

/**
 * Takes a card payment of a till's invoice on its page: {@link ChargeCard} after the merchant's terms, which are those of partners'
 * payments. Who pays is anonymous, so there is nothing to claim: neither vouchers nor payments made elsewhere. A session owes its
 * whole amount: the schema of the command refuses its payable (ADR 62).
 */
@Injectable()
export class ChargeInvoice {
  constructor(
    @Inject(MerchantTermsQuery) private readonly merchantTerms: MerchantTermsQuery,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ChargeCard) private readonly chargeCard: ChargeCard,
  ) {}

  async execute(command: ChargeInvoiceCommand): Promise<AnyPaymentSnapshot> {
    const { payable, reference, amount, tipAmount } = command;
    if (!isUuid(reference)) throw invalidField('reference', 'reference must be a UUID');
    const terms = await this.merchantTerms.find(payable.merchantId);
    try {
      // What the merchant agrees to is not known yet: identity's event is on the way.
      if (!terms) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
      checkChosenAmounts(command, { amount: payable.amount, ...terms });
    } catch (error) {
      // A repeat, and the terms have changed since: that payment stands.
      const standing = await this.payments.find(payable.payableId, reference);
      if (standing) return repeated(standing, { amount, tipAmount });
      throw error;
    }
    return this.chargeCard.execute(command, { amount, tipAmount });
  }
}

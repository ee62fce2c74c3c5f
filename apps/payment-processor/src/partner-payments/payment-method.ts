import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedPartner } from '@svc/auth';
import type { CardRequest, ExternalPaymentRequest, MakePaymentRequest, PaymentMethodType } from '@svc/contracts';
import { canonicalId, Clock, DomainError, invalidField } from '@svc/kernel';
import type { StoredCard } from '../acquirers/acquirer.js';
import { type Card, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { checkCard } from '../card-data/decrypted-card.js';
import { CardRepository } from '../cards/card.repository.js';
import type { FingerprintedCard } from '../velocity/velocity-guard.js';

interface StoredCardOrigin {
  /** Token with which the client pays (P7). */
  readonly token: string;
  /** Name of the only acquirer that can charge the card. */
  readonly acquirer: string;
}

/** A payment method. Its card data is only in memory, until the call to the acquirer ends (P8). */
export interface PaymentMethod {
  readonly type: PaymentMethodType;
  /** Masked, e.g. `**** 4242` (P9). */
  readonly label: string;
  readonly card?: Card | (StoredCard & StoredCardOrigin & FingerprintedCard);
  readonly external?: ExternalPaymentRequest;
}

/** Label of a payment that vouchers cover in full. */
const VOUCHER_LABEL = 'Voucher';

/** Resolves the payment method of a partner's call: decrypts a card, or finds a stored card. */
@Injectable()
export class PaymentMethods {
  constructor(
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Throws `request.invalid` for an invalid card, `resource.not-found` for a stored card of another payer.
   *
   * @param remainingAmount cents that vouchers do not cover
   */
  async resolve(
    partner: AuthenticatedPartner,
    customerId: string,
    { reference, paymentMethod }: MakePaymentRequest,
    remainingAmount: number,
  ): Promise<PaymentMethod> {
    const { card, external } = paymentMethod ?? {};
    if (external) return { type: 'External', label: external.type, external };
    if (remainingAmount === 0) return { type: 'Voucher', label: VOUCHER_LABEL };
    if (!card) throw invalidField('paymentMethod.card', 'paymentMethod.card is required');
    if (card.token) return this.findStored(partner, customerId, card.token);
    const cardData = await this.readCard(partner, card, reference);
    return { type: 'Card', label: cardMask(cardData), card: cardData };
  }

  private async readCard(
    { organisationId, customerReference }: AuthenticatedPartner,
    card: CardRequest,
    reference: string,
  ): Promise<Card> {
    if (!card.encryptedCard) return checkCard({ ...card }, this.clock.now(), { parent: 'paymentMethod.card.' });
    // The encrypted card is bound to the payer and the payment's reference, so that an attacker cannot use a copy of it
    // for another payment. The format of this id differs from the ids of sessions and customers.
    const sessionId = `${customerReference ?? organisationId}.${reference}`;
    return this.cardKeys.decryptCard(card.encryptedCard, { sessionId, paymentNumber: 1 });
  }

  private async findStored(partner: AuthenticatedPartner, customerId: string, token: string): Promise<PaymentMethod> {
    const stored = await this.cards.find(partner, token);
    const belongsToPayer =
      stored && (stored.customerReference === undefined || stored.customerReference === canonicalId(customerId));
    if (!belongsToPayer) throw new DomainError('resource.not-found', { message: 'There is no such card.' });
    const { cardMask: label, vaultToken, acquirer, fingerprint } = stored;
    return { type: 'Card', label, card: { vaultToken, token, acquirer, fingerprint } };
  }
}

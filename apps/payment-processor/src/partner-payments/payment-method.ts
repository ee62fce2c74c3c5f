import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedPartner } from '@svc/auth';
import type { CardRequest, ExternalPaymentRequest, MakePaymentRequest, PaymentMethodType } from '@svc/contracts';
import { canonicalId, Clock, DomainError, invalidField } from '@svc/kernel';
import type { StoredCard } from '../acquirers/acquirer.js';
import { type Card, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { checkCard } from '../card-data/opened-card.js';
import { CardRepository } from '../cards/card.repository.js';

/** What is paid with; card data in it is in memory for the time of the acquirer's call, and goes nowhere else (P8). */
export interface PaymentMethod {
  readonly type: PaymentMethodType;
  /** Masked, e.g. `**** 4242` (P9). */
  readonly label: string;
  readonly card?: Card | StoredCard;
  readonly external?: ExternalPaymentRequest;
}

/** Label of a payment of which vouchers left nothing. */
const VOUCHER_LABEL = 'Voucher';

/** Opens what a partner's call says the payment is made with. */
@Injectable()
export class PaymentMethods {
  constructor(
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `request.invalid` for a card that cannot be one, `resource.not-found` for a stored one that is not the payer's. */
  async open(
    partner: AuthenticatedPartner,
    customerId: string,
    { reference, paymentMethod }: MakePaymentRequest,
    leftToProcess: number,
  ): Promise<PaymentMethod> {
    const { card, external } = paymentMethod ?? {};
    if (external) return { type: 'External', label: external.type, external };
    if (leftToProcess === 0) return { type: 'Voucher', label: VOUCHER_LABEL };
    if (!card) throw invalidField('paymentMethod.card', 'paymentMethod.card is required');
    if (card.token) return this.findStored(partner, customerId, card.token);
    const opened = await this.openCard(partner, card, reference);
    return { type: 'Card', label: cardMask(opened), card: opened };
  }

  private async openCard(
    { organisationId, customerReference }: AuthenticatedPartner,
    card: CardRequest,
    reference: string,
  ): Promise<Card> {
    if (!card.encryptedCard) return checkCard({ ...card }, this.clock.now(), { parent: 'paymentMethod.card.' });
    // Who pays, and the reference it has chosen for one payment: what another partner has copied, or whoever stands between
    // a payer and our page, opens for no payment of its own. No session and no customer is named like this.
    const sessionId = `${customerReference ?? organisationId}.${reference}`;
    return this.cardKeys.openCard(card.encryptedCard, { sessionId, try: 1 });
  }

  private async findStored(partner: AuthenticatedPartner, customerId: string, token: string): Promise<PaymentMethod> {
    const stored = await this.cards.find(partner, token);
    const isPayers =
      stored && (stored.customerReference === undefined || stored.customerReference === canonicalId(customerId));
    if (!isPayers) throw new DomainError('resource.not-found', { message: 'There is no such card.' });
    return { type: 'Card', label: stored.cardMask, card: { vaultToken: stored.vaultToken } };
  }
}

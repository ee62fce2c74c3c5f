import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type CardAnswer, StoreCardRequest } from '@svc/contracts';
import { Clock, DomainError, type FieldRule, rulesFor } from '@svc/kernel';
import { readBody } from '@svc/service';
import { Acquirer } from '../acquirers/acquirer.js';
import { type Card, cardBrand, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { cardRule } from '../card-data/card-rule.js';
import { checkCard } from '../card-data/opened-card.js';
import { type CardOwner, CardRepository } from './card.repository.js';

/**
 * Stores a card in the acquirer's vault and its vault token here (P7). If this service dies in between, the vault keeps a card
 * without a token here: it cannot be charged.
 */
@Injectable()
export class StoreCard {
  constructor(
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(owner: CardOwner, body: unknown): Promise<CardAnswer> {
    const request = await readBody(StoreCardRequest, body, rulesOfCard(this.clock.now()));
    const card = await this.open(owner, request);
    if (!this.acquirer.serves(owner.mode)) throw new DomainError('live-mode.unavailable');
    const stored = await this.acquirer.storeCard(card, owner.mode);
    if (stored === 'invalid') throw new DomainError('card.invalid');
    if (stored === 'unknown') throw new DomainError('acquirer.unavailable', { retryAfterSeconds: 5 });
    const record = {
      token: `card_${randomBytes(24).toString('base64url')}`,
      customerReference: owner.customerReference,
      acquirer: this.acquirer.name,
      vaultToken: stored.vaultToken,
      cardMask: cardMask(card),
    };
    await this.cards.insert(owner, record);
    const { holderName, expiryMonth, expiryYear } = card;
    return {
      token: record.token,
      cardMask: record.cardMask,
      holderName,
      expiryMonth,
      expiryYear,
      brand: cardBrand(card),
    };
  }

  private async open(owner: CardOwner, request: StoreCardRequest): Promise<Card> {
    const { encryptedCard } = request;
    if (!encryptedCard) return checkCard({ ...request }, this.clock.now(), { needsCvv: false });
    // Bound to its owner, so that a copied message cannot store the card for another one.
    const sessionId = owner.customerReference ?? owner.organisationId;
    return this.cardKeys.openCard(encryptedCard, { sessionId, try: 1 }, { needsCvv: false });
  }
}

function rulesOfCard(now: Date): FieldRule<StoreCardRequest>[] {
  const message = 'Either cardNumber or encryptedCard is required, and not both';
  return [
    rulesFor<StoreCardRequest>()(['cardNumber', 'encryptedCard'], ({ cardNumber, encryptedCard }) =>
      Boolean(encryptedCard) === Boolean(cardNumber) ? { field: 'cardNumber', message } : undefined,
    ),
    cardRule<StoreCardRequest>(
      now,
      '',
      [],
      (request) => (request.encryptedCard || !request.cardNumber ? undefined : { ...request }),
      { needsCvv: false },
    ),
  ];
}

import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type CardAnswer, StoreCardRequest } from '@svc/contracts';
import { Clock, DomainError, type FieldRule, rulesFor } from '@svc/kernel';
import { readBody } from '@svc/service';
import { Acquirer } from '../acquirers/acquirer.js';
import { type Card, cardBrand, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { cardRule } from '../card-data/card-rule.js';
import { checkCard } from '../card-data/decrypted-card.js';
import { type CardOwner, CardRepository } from './card.repository.js';

/**
 * Stores a card in the acquirer's vault, and then stores the vault token in this service (P7). If the process crashes
 * between the two steps, the vault has a card, but this service does not know its vault token. Such a card cannot be
 * charged.
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
    const request = await readBody(StoreCardRequest, body, cardRules(this.clock.now()));
    const card = await this.readCard(owner, request);
    if (!this.acquirer.supportsMode(owner.mode)) throw new DomainError('live-mode.unavailable');
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

  private async readCard(owner: CardOwner, request: StoreCardRequest): Promise<Card> {
    const { encryptedCard } = request;
    if (!encryptedCard) return checkCard({ ...request }, this.clock.now(), { needsCvv: false });
    // The encrypted card is bound to its owner, so that a copy of it cannot be stored for another owner.
    const sessionId = owner.customerReference ?? owner.organisationId;
    return this.cardKeys.decryptCard(encryptedCard, { sessionId, paymentNumber: 1 }, { needsCvv: false });
  }
}

function cardRules(now: Date): FieldRule<StoreCardRequest>[] {
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

import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type CardAnswer, type PayableDescriptor, StoreCardRequest } from '@svc/contracts';
import { Clock, DomainError, type FieldRule, rulesFor } from '@svc/kernel';
import { readBody } from '@svc/service';
import type { Acquirer } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { type Card, cardBrand, cardMask } from '../card-data/card.js';
import { CardKeys } from '../card-data/card-keys.js';
import { cardRule } from '../card-data/card-rule.js';
import { checkCard } from '../card-data/decrypted-card.js';
import { CardFingerprints } from '../velocity/card-fingerprints.js';
import { LimitCardStorage } from '../velocity/limit-card-storage.js';
import type { VelocitySubject } from '../velocity/velocity-checks.js';
import { type CardOwner, CardRepository, type StoredCardRecord } from './card.repository.js';

/**
 * Stores a card in the vault of the platform's acquirer for new cards, and then stores the vault token in this service (P7). If the process crashes
 * between the two steps, the vault has a card, but this service does not know its vault token. Such a card cannot be
 * charged.
 */
@Injectable()
export class StoreCard {
  constructor(
    @Inject(CardRepository) private readonly cards: CardRepository,
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
    @Inject(CardFingerprints) private readonly fingerprints: CardFingerprints,
    @Inject(LimitCardStorage) private readonly limit: LimitCardStorage,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(owner: CardOwner, body: unknown): Promise<CardAnswer> {
    const request = await readBody(StoreCardRequest, body, cardRules(this.clock.now()));
    const card = await this.readCard(owner, request);
    const { vault } = this.acquirers;
    if (!this.acquirers.acceptsNew(vault, owner.mode)) throw new DomainError('live-mode.unavailable');
    const { organisationId, mode } = owner;
    const record = await this.storeInVault(vault, owner, card, { mode, payer: { organisationId } });
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

  /**
   * Stores a card for one payment in the vault of the acquirer that will charge it, and returns its token. The CVV is not
   * stored, so the charge is made without it.
   */
  async storeForOnePayment(
    acquirer: Acquirer,
    owner: CardOwner,
    card: Card,
    { merchantId, siteId }: Pick<PayableDescriptor, 'merchantId' | 'siteId'>,
  ): Promise<string> {
    const { organisationId, mode } = owner;
    const subject = { mode, merchantId, siteId, payer: { organisationId } };
    const record = await this.storeInVault(acquirer, owner, card, subject);
    await this.cards.insertForOnePayment(owner, record);
    return record.token;
  }

  private async storeInVault(
    vault: Acquirer,
    owner: CardOwner,
    card: Card,
    subject: VelocitySubject,
  ): Promise<StoredCardRecord> {
    const stored = await this.limit.execute(subject, card, () => vault.storeCard(card, owner.mode));
    if (stored === 'invalid') throw new DomainError('card.invalid');
    if (stored === 'unknown') throw new DomainError('acquirer.unavailable', { retryAfterSeconds: 5 });
    return {
      token: `card_${randomBytes(24).toString('base64url')}`,
      customerReference: owner.customerReference,
      acquirer: vault.name,
      vaultToken: stored.vaultToken,
      vaultAccount: stored.vaultAccount,
      cardMask: cardMask(card),
      fingerprint: this.fingerprints.ofCard(owner.mode, card.cardNumber),
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

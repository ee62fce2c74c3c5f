import { type KeyObject, randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { decryptPrivateKey, newSealedKeyPair } from '@svc/auth';
import { CardKeyPublishedV1, type PublicKeyJwk } from '@svc/contracts';
import { Clock, DomainError, isUuid, TtlCache } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { PaymentProcessorConfig } from '../config.js';
import type { Card } from './card.js';
import { canDecryptCards, type CardKey, MAX_ACCEPTED_CARD_KEYS } from './card-key.js';
import { CardKeyRepository } from './card-key.repository.js';
import { checkDecryptedCard } from './decrypted-card.js';
import { readEncryptedCard, UnreadableCardError } from './encrypted-card.js';

/** Longer values are rejected; a real encrypted card has about 700 characters. */
const MAX_ENCRYPTED_CARD_LENGTH = 4096;

/** Aggregate of the events that publish card keys. The version of the aggregate counts the keys. */
export const CARD_KEY_AGGREGATE = 'card-key';

interface CachedPrivateKey extends Pick<CardKey, 'replacedAt'> {
  readonly privateKey: KeyObject;
}

/** Manages the key pairs for card data. Only this class decrypts card data (P8). */
@Injectable()
export class CardKeys implements OnModuleInit {
  /** Cached for a second, so that every replica notices a rotation. */
  private readonly privateKeys: TtlCache<CachedPrivateKey>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CardKeyRepository) private readonly keys: CardKeyRepository,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {
    this.privateKeys = new TtlCache(clock, MAX_ACCEPTED_CARD_KEYS);
  }

  /**
   * Creates and publishes the first key pair. If two replicas start at the same time, only one of them inserts a key.
   */
  async onModuleInit(): Promise<void> {
    const kid = randomUUID();
    const { publicJwk, sealedPrivateKey } = await newSealedKeyPair(kid, this.config.SVC_SEALING_KEY);
    await inTransaction(this.dataSource, async (tx) => {
      const key = { kid, publicJwk, sealedPrivateKey, createdAt: this.clock.now() };
      if (await this.keys.insertIfNone(tx, key)) {
        await this.events.append(tx, {
          type: CardKeyPublishedV1,
          aggregateId: CARD_KEY_AGGREGATE,
          aggregateVersion: 1,
          payload: { publicJwk },
        });
      }
    });
  }

  /** The key for encrypting new cards. */
  async currentPublicKey(): Promise<PublicKeyJwk> {
    const publicJwk = await this.keys.findCurrentPublicKey();
    if (!publicJwk) throw new Error('There is no current card key.');
    return publicJwk;
  }

  /**
   * Decrypts a card that is bound to this session and payment. Throws `request.invalid` for any other value, and
   * `card-key.not-in-use` when the card's key is unknown or retired.
   */
  async decryptCard(
    encryptedCard: string,
    expected: { sessionId: string; paymentNumber: number },
    { needsCvv = true }: { needsCvv?: boolean } = {},
  ): Promise<Card> {
    const decrypted = await this.decrypt(encryptedCard).catch((cause: unknown) => {
      if (cause instanceof DomainError) throw cause;
      throw unreadableCard(cause);
    });
    return checkDecryptedCard(decrypted, expected, this.clock.now(), needsCvv);
  }

  private async decrypt(encryptedCard: string): Promise<unknown> {
    if (encryptedCard.length > MAX_ENCRYPTED_CARD_LENGTH) throw unreadableCard();
    const encrypted = readEncryptedCard(encryptedCard);
    if (!isUuid(encrypted.kid)) throw unreadableCard();
    return JSON.parse(encrypted.decrypt(await this.getPrivateKey(encrypted.kid)).toString('utf8'));
  }

  private async getPrivateKey(kid: string): Promise<KeyObject> {
    const cached = await this.privateKeys.find(kid, () => this.loadPrivateKey(kid));
    if (!cached || !canDecryptCards(cached, this.clock.now())) throw new DomainError('card-key.not-in-use');
    return cached.privateKey;
  }

  private async loadPrivateKey(kid: string): Promise<CachedPrivateKey | undefined> {
    const stored = await this.keys.findDecryptionKey(kid);
    if (!stored) return undefined;
    const privateKey = decryptPrivateKey(kid, stored.sealedPrivateKey, this.config.SVC_SEALING_KEY);
    return { privateKey, replacedAt: stored.replacedAt };
  }
}

/**
 * The message of an {@link UnreadableCardError} is safe. The message of any other error could contain decrypted data,
 * so only the name of such an error is used.
 */
function unreadableCard(cause?: unknown): DomainError {
  const reason =
    cause instanceof UnreadableCardError ? cause.message : cause instanceof Error ? cause.name : 'unusable';
  return new DomainError('request.invalid', {
    message: 'The encrypted card cannot be read. Reload the page and try again.',
    cause: new Error(`Encrypted card rejected: ${reason}`),
  });
}

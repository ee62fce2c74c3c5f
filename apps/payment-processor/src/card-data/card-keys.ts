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
import { type CardKey, MAX_OPENING_CARD_KEYS, opensCards } from './card-key.js';
import { CardKeyRepository } from './card-key.repository.js';
import { readEncryptedCard, UnreadableCard } from './encrypted-card.js';
import { checkOpenedCard } from './opened-card.js';

/** Longer values are rejected; a real encrypted card has about 700 characters. */
const MAX_ENCRYPTED_CARD_LENGTH = 4096;

/** Aggregate of the events that publish card keys; its version counts the keys. */
export const CARD_KEY_AGGREGATE = 'card-key';

interface OpenedKey extends Pick<CardKey, 'replacedAt'> {
  readonly privateKey: KeyObject;
}

/** The key pairs for card data, and the only code that decrypts it (P8). */
@Injectable()
export class CardKeys implements OnModuleInit {
  /** Cached for a second, so that every replica notices a rotation. */
  private readonly opened: TtlCache<OpenedKey>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CardKeyRepository) private readonly keys: CardKeyRepository,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {
    this.opened = new TtlCache(clock, MAX_OPENING_CARD_KEYS);
  }

  /** Creates and publishes the first key pair. Of two replicas that start at the same time only one inserts it. */
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
   * Decrypts a card that is bound to this session and try. Throws `request.invalid` for anything else, and
   * `card-key.not-in-use` when its key is unknown or retired.
   */
  async openCard(
    encryptedCard: string,
    expected: { sessionId: string; try: number },
    { needsCvv = true }: { needsCvv?: boolean } = {},
  ): Promise<Card> {
    const opened = await this.decrypt(encryptedCard).catch((cause: unknown) => {
      if (cause instanceof DomainError) throw cause;
      throw unreadable(cause);
    });
    return checkOpenedCard(opened, expected, this.clock.now(), needsCvv);
  }

  private async decrypt(encryptedCard: string): Promise<unknown> {
    if (encryptedCard.length > MAX_ENCRYPTED_CARD_LENGTH) throw unreadable();
    const encrypted = readEncryptedCard(encryptedCard);
    if (!isUuid(encrypted.kid)) throw unreadable();
    return JSON.parse(encrypted.open(await this.privateKey(encrypted.kid)).toString('utf8'));
  }

  private async privateKey(kid: string): Promise<KeyObject> {
    const opened = await this.opened.find(kid, () => this.openKey(kid));
    if (!opened || !opensCards(opened, this.clock.now())) throw new DomainError('card-key.not-in-use');
    return opened.privateKey;
  }

  private async openKey(kid: string): Promise<OpenedKey | undefined> {
    const found = await this.keys.findOpening(kid);
    if (!found) return undefined;
    const privateKey = decryptPrivateKey(kid, found.sealedPrivateKey, this.config.SVC_SEALING_KEY);
    return { privateKey, replacedAt: found.replacedAt };
  }
}

/** The text of any other error could contain decrypted data, so only its kind is passed on. */
function unreadable(cause?: unknown): DomainError {
  const kind = cause instanceof UnreadableCard ? cause.message : cause instanceof Error ? cause.name : 'unusable';
  return new DomainError('request.invalid', {
    message: 'The encrypted card cannot be read. Reload the page and try again.',
    cause: new Error(`Encrypted card rejected: ${kind}`),
  });
}

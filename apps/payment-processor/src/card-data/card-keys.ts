import { type KeyObject, randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { newSealedKeyPair, openPrivateKey } from '@svc/auth';
import { CardKeyPublishedV1, type PublicKeyJwk } from '@svc/contracts';
import { Clock, DomainError, isUuid, KeptForASecond } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { PaymentProcessorConfig } from '../config.js';
import type { Card } from './card.js';
import { type CardKey, MAX_OPENING_CARD_KEYS, opensCards } from './card-key.js';
import { CardKeyRepository } from './card-key.repository.js';
import { readEncryptedCard, UnreadableCard } from './encrypted-card.js';
import { checkOpenedCard } from './opened-card.js';

/** Longest encrypted card that is looked at; a real one has about 700 characters. */
const ENCRYPTED_CARD_LENGTH_MAX = 4096;

/** Aggregate of the events that publish a card key: their versions count the keys. */
export const CARD_KEY_AGGREGATE = 'card-key';

interface OpenedKey extends Pick<CardKey, 'replacedAt'> {
  readonly privateKey: KeyObject;
}

/** The key pairs that card data is encrypted to, and the only place that opens it (P8). */
@Injectable()
export class CardKeys implements OnModuleInit {
  /** For a second, so that every replica notices a rotation. */
  private readonly opened: KeptForASecond<OpenedKey>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CardKeyRepository) private readonly keys: CardKeyRepository,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {
    this.opened = new KeptForASecond(clock, MAX_OPENING_CARD_KEYS);
  }

  /** There is always a current key pair, and everybody has been told of it. Two replicas at once make one. */
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

  /** What cards are to be encrypted to from now on. */
  async currentPublicKey(): Promise<PublicKeyJwk> {
    const publicJwk = await this.keys.findCurrentPublicKey();
    if (!publicJwk) throw new Error('There is no current card key.');
    return publicJwk;
  }

  /**
   * Opens a card for this session and try. Throws `request.invalid` for anything that is not exactly that, and
   * `card-key.not-in-use` when it was encrypted to a key that is unknown or retired.
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
    if (encryptedCard.length > ENCRYPTED_CARD_LENGTH_MAX) throw unreadable();
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
    const privateKey = openPrivateKey(kid, found.sealedPrivateKey, this.config.SVC_SEALING_KEY);
    return { privateKey, replacedAt: found.replacedAt };
  }
}

/** The text of any other error could repeat what was decrypted, so only its kind goes on. */
function unreadable(cause?: unknown): DomainError {
  const kind = cause instanceof UnreadableCard ? cause.message : cause instanceof Error ? cause.name : 'unusable';
  return new DomainError('request.invalid', {
    message: 'The encrypted card cannot be read. Reload the page and try again.',
    cause: new Error(`Encrypted card refused: ${kind}`),
  });
}

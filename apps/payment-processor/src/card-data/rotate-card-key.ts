import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { newSealedKeyPair } from '@svc/auth';
import { CardKeyPublishedV1 } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { PaymentProcessorConfig } from '../config.js';
import { CardKeyRepository } from './card-key.repository.js';
import { CARD_KEY_AGGREGATE } from './card-keys.js';
import { type CardKeyView, MAX_OPENING_CARD_KEYS, overlapBegan, toCardKeyView } from './card-key.js';

/**
 * Puts a new key for card data in the place of the current one (P8). Cards that were encrypted to the older one open for the
 * time of the overlap; then its private half is erased. Stored cards do not depend on it: they are in the acquirer's vault.
 */
@Injectable()
export class RotateCardKey {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CardKeyRepository) private readonly keys: CardKeyRepository,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /** Throws `resource.conflict` when another rotation is being made, or too many older keys still open cards. */
  async execute(actor: string): Promise<CardKeyView> {
    const kid = randomUUID();
    const { publicJwk, sealedPrivateKey } = await newSealedKeyPair(kid, this.config.SVC_SEALING_KEY);
    return inTransaction(this.dataSource, async (tx) => {
      const now = this.clock.now();
      const version = (await this.replaceCurrent(tx, now)) + 1;
      await this.keys.insertCurrent(tx, { kid, publicJwk, sealedPrivateKey, createdAt: now }, version, actor);
      await this.events.append(tx, {
        type: CardKeyPublishedV1,
        aggregateId: CARD_KEY_AGGREGATE,
        aggregateVersion: version,
        payload: { publicJwk },
      });
      return toCardKeyView({ kid, createdAt: now, replacedAt: null }, now);
    });
  }

  /** The newest keys. */
  async list(): Promise<CardKeyView[]> {
    const keys = await this.keys.listNewest();
    const now = this.clock.now();
    return keys.map((key) => toCardKeyView(key, now));
  }

  /** Erases the private halves of keys that open no card any more. */
  async eraseRetired(): Promise<void> {
    await this.keys.erasePrivateKeysReplacedUntil(overlapBegan(this.clock.now()));
  }

  /** Returns the version of the key that was current. Its row is locked, so of two rotations at once one finds none. */
  private async replaceCurrent(tx: EntityManager, now: Date): Promise<number> {
    const replaced = await this.keys.replaceCurrent(tx, now);
    if (replaced === undefined)
      throw new DomainError('resource.conflict', { message: 'Another rotation of the card key has just been made.' });
    if ((await this.keys.countReplacedSince(tx, overlapBegan(now))) >= MAX_OPENING_CARD_KEYS)
      throw new DomainError('resource.conflict', {
        message: `${MAX_OPENING_CARD_KEYS} card keys still open cards. Wait until the oldest is retired.`,
      });
    return replaced;
  }
}

import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor, newSealedKeyPair } from '@svc/auth';
import { CardKeyPublishedV1 } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { PaymentProcessorConfig } from '../config.js';
import { type CardKeyView, MAX_ACCEPTED_CARD_KEYS, overlapStart, toCardKeyView } from './card-key.js';
import { CardKeyRepository } from './card-key.repository.js';
import { CARD_KEY_AGGREGATE } from './card-keys.js';

/**
 * Replaces the current key for card data (P8). Cards encrypted with the old key are accepted during the overlap ({@link
 * CARD_KEY_OVERLAP_MS}). After that time the old private key is erased. Stored cards do not depend on the key, because
 * they are in the acquirer's vault.
 */
@Injectable()
export class RotateCardKey {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CardKeyRepository) private readonly keys: CardKeyRepository,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /** Throws `resource.conflict` during another rotation, or when too many keys can still decrypt cards. */
  async execute(author: ChangeAuthor): Promise<CardKeyView> {
    const kid = randomUUID();
    const { publicJwk, sealedPrivateKey } = await newSealedKeyPair(kid, this.config.SVC_SEALING_KEY);
    return inTransaction(this.dataSource, async (tx) => {
      const now = this.clock.now();
      const version = (await this.replaceCurrent(tx, now)) + 1;
      await this.keys.insertCurrent(tx, { kid, publicJwk, sealedPrivateKey, createdAt: now }, version, author.actor);
      await this.events.append(tx, {
        type: CardKeyPublishedV1,
        aggregateId: CARD_KEY_AGGREGATE,
        aggregateVersion: version,
        payload: { publicJwk },
      });
      await this.audit.append(tx, author, { action: 'card-key.created', credentialId: kid, after: { version } });
      return toCardKeyView({ kid, createdAt: now, replacedAt: null }, now);
    });
  }

  async list(): Promise<CardKeyView[]> {
    const keys = await this.keys.listNewest();
    const now = this.clock.now();
    return keys.map((key) => toCardKeyView(key, now));
  }

  /** Erases the private keys of retired keys. */
  async eraseRetired(): Promise<void> {
    await this.keys.erasePrivateKeysReplacedUntil(overlapStart(this.clock.now()));
  }

  /**
   * Returns the version of the replaced key. The row of the key stays locked, so that a concurrent rotation waits and
   * then finds no current key.
   */
  private async replaceCurrent(tx: EntityManager, now: Date): Promise<number> {
    const replacedVersion = await this.keys.replaceCurrent(tx, now);
    if (replacedVersion === undefined)
      throw new DomainError('resource.conflict', { message: 'Another rotation of the card key has just been made.' });
    if ((await this.keys.countReplacedSince(tx, overlapStart(now))) >= MAX_ACCEPTED_CARD_KEYS)
      throw new DomainError('resource.conflict', {
        message: `${MAX_ACCEPTED_CARD_KEYS} card keys still decrypt cards. Wait until the oldest is retired.`,
      });
    return replacedVersion;
  }
}

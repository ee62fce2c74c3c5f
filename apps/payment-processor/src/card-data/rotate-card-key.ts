import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { newSealedKeyPair } from '@svc/auth';
import { CardKeyPublishedV1 } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { PaymentProcessorConfig } from '../config.js';
import { CARD_KEY_AGGREGATE } from './card-keys.js';
import { type CardKey, type CardKeyView, MAX_OPENING_CARD_KEYS, overlapBegan, toCardKeyView } from './card-key.js';

const CARD_KEYS_LISTED_MAX = 100;

/**
 * Puts a new key for card data in the place of the current one (P8). Cards that were encrypted to the older one open for the
 * time of the overlap; then its private half is erased. Stored cards do not depend on it: they are in the acquirer's vault.
 */
@Injectable()
export class RotateCardKey {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
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
      await tx.query(
        `INSERT INTO card_keys (kid, public_jwk, sealed_private_key, created_at, current, version, created_by)
         VALUES ($1, $2, $3, $4, true, $5, $6)`,
        [kid, publicJwk, sealedPrivateKey, now, version, actor],
      );
      await this.events.append(tx, {
        type: CardKeyPublishedV1,
        aggregateId: CARD_KEY_AGGREGATE,
        aggregateVersion: version,
        payload: { publicJwk },
      });
      return toCardKeyView({ kid, createdAt: now, replacedAt: null }, now);
    });
  }

  /** The newest, at most {@link CARD_KEYS_LISTED_MAX}. */
  async list(): Promise<CardKeyView[]> {
    const keys = await this.dataSource.query<CardKey[]>(
      `SELECT kid, created_at AS "createdAt", replaced_at AS "replacedAt" FROM card_keys
        ORDER BY version DESC LIMIT ${CARD_KEYS_LISTED_MAX}`,
    );
    const now = this.clock.now();
    return keys.map((key) => toCardKeyView(key, now));
  }

  /** Erases the private halves of keys that open no card any more. */
  async eraseRetired(): Promise<void> {
    await this.dataSource.query(
      `UPDATE card_keys SET sealed_private_key = NULL WHERE replaced_at <= $1 AND sealed_private_key IS NOT NULL`,
      [overlapBegan(this.clock.now())],
    );
  }

  /** Returns the version of the key that was current. Its row is locked, so of two rotations at once one finds none. */
  private async replaceCurrent(tx: EntityManager, now: Date): Promise<number> {
    const [[replaced]] = await tx.query<[{ version: number }[], number]>(
      `UPDATE card_keys SET current = NULL, replaced_at = $1 WHERE current RETURNING version`,
      [now],
    );
    if (!replaced)
      throw new DomainError('resource.conflict', { message: 'Another rotation of the card key has just been made.' });
    const [row] = await tx.query<[{ count: number }]>(`SELECT count(*) FROM card_keys WHERE replaced_at > $1`, [
      overlapBegan(now),
    ]);
    if (row.count >= MAX_OPENING_CARD_KEYS)
      throw new DomainError('resource.conflict', {
        message: `${MAX_OPENING_CARD_KEYS} card keys still open cards. Wait until the oldest is retired.`,
      });
    return replaced.version;
  }
}

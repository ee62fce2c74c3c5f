import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { CardFingerprint } from '../velocity/card-fingerprints.js';

/** Owner of a card: the customer if the caller's identity token is a customer's token, otherwise the organisation. */
export interface CardOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
  readonly customerReference: string | undefined;
}

/** A stored card (P7), or the card of one payment, without card data. */
export interface StoredCardRecord {
  readonly token: string;
  /** Undefined when the card belongs to the organisation. */
  readonly customerReference: string | undefined;
  /** Name of the acquirer whose vault has the card. Only this acquirer can charge and delete it. */
  readonly acquirer: string;
  readonly vaultToken: string;
  /** The acquirer's account whose vault has the card. Undefined for an acquirer with one vault for each mode. */
  readonly vaultAccount: string | undefined;
  /** `**** 4242` (P9). */
  readonly cardMask: string;
  readonly fingerprint: CardFingerprint;
}

/**
 * Lifetime of the card of one payment whose payer must first open our page: 15 min until the payer opens it, 15 min on
 * the bank's page, 15 min while the outcome is unknown, and a reserve.
 */
const ONE_PAYMENT_MS = 3_600_000;

/** Reads and writes stored cards. `CardFingerprintRepository` changes their hashes. */
@Injectable()
export class CardRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async insert(owner: CardOwner, card: StoredCardRecord): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO cards (token, organisation_id, mode, customer_reference, acquirer, vault_token, card_mask, fingerprint, range_fingerprint,
                          stored_at, vault_account, other_fingerprint)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        card.token,
        owner.organisationId,
        owner.mode,
        card.customerReference ?? null,
        card.acquirer,
        card.vaultToken,
        card.cardMask,
        card.fingerprint.card,
        card.fingerprint.range,
        this.clock.now(),
        card.vaultAccount ?? null,
        card.fingerprint.otherCard ?? null,
      ],
    );
  }

  /**
   * Stores a card for one payment. No call of its owner finds the card, and {@link findDueForDeletion} deletes it without
   * another statement, so that no crash leaves it in the vault.
   */
  async insertForOnePayment(owner: CardOwner, card: StoredCardRecord): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO cards (token, organisation_id, mode, customer_reference, acquirer, vault_token, card_mask, fingerprint, range_fingerprint,
                          stored_at, vault_account, other_fingerprint, deleted_at, next_vault_delete_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)`,
      [
        card.token,
        owner.organisationId,
        owner.mode,
        card.customerReference ?? null,
        card.acquirer,
        card.vaultToken,
        card.cardMask,
        card.fingerprint.card,
        card.fingerprint.range,
        this.clock.now(),
        card.vaultAccount ?? null,
        card.fingerprint.otherCard ?? null,
        this.clock.later(ONE_PAYMENT_MS),
      ],
    );
  }

  /** Makes the cards of one payment due for deletion, once their payment has ended. */
  async deleteUsed(acquirer: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE cards c SET deleted_at = $2, next_vault_delete_at = $2
         FROM verifications v JOIN payments p ON p.payment_id = v.payment_id
        WHERE c.acquirer = $1 AND c.next_vault_delete_at > $2 AND c.deleted_at > $2
          AND v.card_token = c.token AND p.state IN ('success', 'failed')`,
      [acquirer, this.clock.now()],
    );
  }

  /** A customer finds only its own cards. The organisation's server also finds the cards of all its customers. */
  async find(owner: CardOwner, token: string): Promise<Omit<StoredCardRecord, 'vaultAccount'> | undefined> {
    const [row] = await this.dataSource.query<
      (Omit<StoredCardRecord, 'customerReference' | 'vaultAccount'> & { customerReference: string | null })[]
    >(
      `SELECT token, customer_reference AS "customerReference", acquirer, vault_token AS "vaultToken", card_mask AS "cardMask",
              jsonb_strip_nulls(jsonb_build_object('card', fingerprint, 'range', range_fingerprint, 'otherCard', other_fingerprint)) AS fingerprint
         FROM cards WHERE token = $1 AND organisation_id = $2 AND mode = $3 AND ($4::uuid IS NULL OR customer_reference = $4)
          AND deleted_at IS NULL`,
      [token, owner.organisationId, owner.mode, owner.customerReference ?? null],
    );
    return row && { ...row, customerReference: row.customerReference ?? undefined };
  }

  /** Prevents further payments with the card. False when this owner has no such card. */
  async delete(owner: CardOwner, token: string): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE cards SET deleted_at = $5, next_vault_delete_at = $5
        WHERE token = $1 AND organisation_id = $2 AND mode = $3 AND ($4::uuid IS NULL OR customer_reference = $4)
          AND deleted_at IS NULL RETURNING token`,
      [token, owner.organisationId, owner.mode, owner.customerReference ?? null, this.clock.now()],
    );
    return count > 0;
  }

  /** Deleted cards that are due for deletion in the vault of this acquirer, oldest due time first. */
  async findDueForDeletion(
    acquirer: string,
    limit: number,
  ): Promise<(Pick<StoredCardRecord, 'token' | 'vaultAccount' | 'vaultToken'> & Pick<CardOwner, 'mode'>)[]> {
    const rows = await this.dataSource.query<
      (Pick<StoredCardRecord, 'token' | 'vaultToken'> & Pick<CardOwner, 'mode'> & { vaultAccount: string | null })[]
    >(
      `SELECT token, vault_token AS "vaultToken", vault_account AS "vaultAccount", mode FROM cards
        WHERE acquirer = $1 AND next_vault_delete_at <= $3 ORDER BY next_vault_delete_at LIMIT $2`,
      [acquirer, limit, this.clock.now()],
    );
    return rows.map((row) => ({ ...row, vaultAccount: row.vaultAccount ?? undefined }));
  }

  async markDeletedAtAcquirer(token: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE cards SET vault_deleted_at = $2, next_vault_delete_at = NULL WHERE token = $1 AND vault_deleted_at IS NULL`,
      [token, this.clock.now()],
    );
  }

  /**
   * Exponential backoff: the delay until the next attempt is the time since the owner deleted the card, but at least 30
   * seconds and at most 1 hour. Therefore newer deletions are attempted first.
   */
  async postponeDeletion(token: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE cards SET next_vault_delete_at = $2::timestamptz + least(greatest($2::timestamptz - deleted_at, interval '30 seconds'), interval '1 hour')
        WHERE token = $1 AND vault_deleted_at IS NULL`,
      [token, this.clock.now()],
    );
  }
}

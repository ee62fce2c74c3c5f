import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';

/** Owner of a card: the customer if the caller's identity token is a customer's token, otherwise the organisation. */
export interface CardOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
  readonly customerReference: string | undefined;
}

/** A stored card (P7), without card data. */
interface StoredCardRecord {
  readonly token: string;
  /** Undefined when the card belongs to the organisation. */
  readonly customerReference: string | undefined;
  readonly acquirer: string;
  readonly vaultToken: string;
  /** `**** 4242` (P9). */
  readonly cardMask: string;
}

/** The only code that reads and writes stored cards. */
@Injectable()
export class CardRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async insert(owner: CardOwner, card: StoredCardRecord): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO cards (token, organisation_id, mode, customer_reference, acquirer, vault_token, card_mask, stored_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        card.token,
        owner.organisationId,
        owner.mode,
        card.customerReference ?? null,
        card.acquirer,
        card.vaultToken,
        card.cardMask,
        this.clock.now(),
      ],
    );
  }

  /** A customer finds only its own cards. The organisation's server also finds the cards of all its customers. */
  async find(owner: CardOwner, token: string): Promise<StoredCardRecord | undefined> {
    const [row] = await this.dataSource.query<
      (Omit<StoredCardRecord, 'customerReference'> & { customerReference: string | null })[]
    >(
      `SELECT token, customer_reference AS "customerReference", acquirer, vault_token AS "vaultToken", card_mask AS "cardMask"
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

  /** Deleted cards that are due for deletion at the acquirer, oldest due time first. */
  async findDueForDeletion(
    limit: number,
  ): Promise<(Pick<StoredCardRecord, 'token' | 'vaultToken'> & Pick<CardOwner, 'mode'>)[]> {
    return this.dataSource.query(
      `SELECT token, vault_token AS "vaultToken", mode FROM cards WHERE next_vault_delete_at <= $2 ORDER BY next_vault_delete_at LIMIT $1`,
      [limit, this.clock.now()],
    );
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

import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';

/** Who may find a card: under a customer's token that customer, otherwise its organisation. */
export interface CardOwner {
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
  readonly customerReference: string | undefined;
}

/** A stored card (P7), without anything that would be card data. */
export interface KnownCard {
  readonly token: string;
  /** Undefined: it is the organisation's. */
  readonly customerReference: string | undefined;
  readonly acquirer: string;
  readonly vaultToken: string;
  /** `**** 4242` (P9). */
  readonly cardMask: string;
}

/** The only place that reads and writes stored cards. */
@Injectable()
export class CardRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async insert(owner: CardOwner, card: KnownCard): Promise<void> {
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

  /** A customer finds its own; its organisation's server finds them all. */
  async find(owner: CardOwner, token: string): Promise<KnownCard | undefined> {
    const [row] = await this.dataSource.query<
      (Omit<KnownCard, 'customerReference'> & { customerReference: string | null })[]
    >(
      `SELECT token, customer_reference AS "customerReference", acquirer, vault_token AS "vaultToken", card_mask AS "cardMask"
         FROM cards WHERE token = $1 AND organisation_id = $2 AND mode = $3 AND ($4::uuid IS NULL OR customer_reference = $4)
          AND deleted_at IS NULL`,
      [token, owner.organisationId, owner.mode, owner.customerReference ?? null],
    );
    return row && { ...row, customerReference: row.customerReference ?? undefined };
  }

  /** From now on nobody pays with it. False where there is none of this owner's. */
  async delete(owner: CardOwner, token: string): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE cards SET deleted_at = $5, forget_after = $5
        WHERE token = $1 AND organisation_id = $2 AND mode = $3 AND ($4::uuid IS NULL OR customer_reference = $4)
          AND deleted_at IS NULL RETURNING token`,
      [token, owner.organisationId, owner.mode, owner.customerReference ?? null, this.clock.now()],
    );
    return count > 0;
  }

  /** Deleted ones that the acquirer is now to be asked to forget, those that wait longest first. */
  async findToForget(limit: number): Promise<(Pick<KnownCard, 'token' | 'vaultToken'> & Pick<CardOwner, 'mode'>)[]> {
    return this.dataSource.query(
      `SELECT token, vault_token AS "vaultToken", mode FROM cards WHERE forget_after <= $2 ORDER BY forget_after LIMIT $1`,
      [limit, this.clock.now()],
    );
  }

  async markForgotten(token: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE cards SET forgotten_at = $2, forget_after = NULL WHERE token = $1 AND forgotten_at IS NULL`,
      [token, this.clock.now()],
    );
  }

  /** Asks again after as long as the card has been deleted, within bounds: behind those that nobody has asked for yet. */
  async forgetLater(token: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE cards SET forget_after = $2::timestamptz + least(greatest($2::timestamptz - deleted_at, interval '30 seconds'), interval '1 hour')
        WHERE token = $1 AND forgotten_at IS NULL`,
      [token, this.clock.now()],
    );
  }
}

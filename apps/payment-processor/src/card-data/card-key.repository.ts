import { Inject, Injectable } from '@nestjs/common';
import type { PublicKeyJwk } from '@svc/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import type { CardKey } from './card-key.js';

const MAX_LISTED_CARD_KEYS = 100;

/** A new key pair. Its private key is encrypted with `SVC_SEALING_KEY`. */
interface NewCardKey {
  readonly kid: string;
  readonly publicJwk: PublicKeyJwk;
  readonly sealedPrivateKey: string;
  readonly createdAt: Date;
}

/** The stored private key of a key pair, for decrypting cards. */
interface CardDecryptionKey {
  readonly sealedPrivateKey: string;
  readonly replacedAt: Date | null;
}

/** The key pairs for card data. */
@Injectable()
export class CardKeyRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Inserts the first key. False when a current key already exists. */
  async insertIfNone(tx: EntityManager, { kid, publicJwk, sealedPrivateKey, createdAt }: NewCardKey): Promise<boolean> {
    const inserted = await tx.query<unknown[]>(
      `INSERT INTO card_keys (kid, public_jwk, sealed_private_key, created_at, current, version, created_by)
         VALUES ($1, $2, $3, $4, true, 1, 'start')
         ON CONFLICT (current) DO NOTHING RETURNING kid`,
      [kid, publicJwk, sealedPrivateKey, createdAt],
    );
    return inserted.length > 0;
  }

  async insertCurrent(tx: EntityManager, key: NewCardKey, version: number, actor: string): Promise<void> {
    await tx.query(
      `INSERT INTO card_keys (kid, public_jwk, sealed_private_key, created_at, current, version, created_by)
         VALUES ($1, $2, $3, $4, true, $5, $6)`,
      [key.kid, key.publicJwk, key.sealedPrivateKey, key.createdAt, version, actor],
    );
  }

  /**
   * Returns the version of the replaced key. The row of the key stays locked until the transaction ends. Undefined when
   * a concurrent rotation has replaced the key.
   */
  async replaceCurrent(tx: EntityManager, now: Date): Promise<number | undefined> {
    const [[replaced]] = await tx.query<[{ version: number }[], number]>(
      `UPDATE card_keys SET current = NULL, replaced_at = $1 WHERE current RETURNING version`,
      [now],
    );
    return replaced?.version;
  }

  async countReplacedSince(tx: EntityManager, since: Date): Promise<number> {
    const [row] = await tx.query<[{ count: number }]>(`SELECT count(*) FROM card_keys WHERE replaced_at > $1`, [since]);
    return row.count;
  }

  /** The newest keys, at most {@link MAX_LISTED_CARD_KEYS}. */
  listNewest(): Promise<CardKey[]> {
    return this.dataSource.query<CardKey[]>(
      `SELECT kid, created_at AS "createdAt", replaced_at AS "replacedAt" FROM card_keys
        ORDER BY version DESC LIMIT ${MAX_LISTED_CARD_KEYS}`,
    );
  }

  async erasePrivateKeysReplacedUntil(until: Date): Promise<void> {
    await this.dataSource.query(
      `UPDATE card_keys SET sealed_private_key = NULL WHERE replaced_at <= $1 AND sealed_private_key IS NOT NULL`,
      [until],
    );
  }

  async findCurrentPublicKey(): Promise<PublicKeyJwk | undefined> {
    const [row] = await this.dataSource.query<{ publicJwk: PublicKeyJwk }[]>(
      `SELECT public_jwk AS "publicJwk" FROM card_keys WHERE current`,
    );
    return row?.publicJwk;
  }

  /** Undefined for an unknown key, and for a key whose private key was erased. */
  async findDecryptionKey(kid: string): Promise<CardDecryptionKey | undefined> {
    const [row] = await this.dataSource.query<CardDecryptionKey[]>(
      `SELECT sealed_private_key AS "sealedPrivateKey", replaced_at AS "replacedAt" FROM card_keys
        WHERE kid = $1 AND sealed_private_key IS NOT NULL`,
      [kid],
    );
    return row;
  }
}

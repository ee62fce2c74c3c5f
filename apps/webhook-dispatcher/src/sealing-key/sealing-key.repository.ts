import { Inject, Injectable } from '@nestjs/common';
import type { PublicKeyJwk } from '@svc/contracts';
import { DataSource, type EntityManager } from 'typeorm';

interface StoredSealingKey {
  readonly kid: string;
  readonly publicJwk: PublicKeyJwk;
  readonly sealedPrivateKey: string;
  readonly createdAt: Date;
}

@Injectable()
export class SealingKeyRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Returns false when a key exists. If two replicas start for the first time, the lock makes the second replica wait
   * and find the key of the first replica.
   */
  async insertIfNone(tx: EntityManager, key: StoredSealingKey): Promise<boolean> {
    await tx.query(`LOCK TABLE sealing_keys IN SHARE ROW EXCLUSIVE MODE`);
    const inserted = await tx.query<unknown[]>(
      `INSERT INTO sealing_keys (kid, public_jwk, sealed_private_key, created_at)
         SELECT $1, $2, $3, $4 WHERE NOT EXISTS (SELECT 1 FROM sealing_keys) RETURNING kid`,
      [key.kid, JSON.stringify(key.publicJwk), key.sealedPrivateKey, key.createdAt],
    );
    return inserted.length > 0;
  }

  findAll(): Promise<Pick<StoredSealingKey, 'kid' | 'sealedPrivateKey'>[]> {
    return this.dataSource.query(`SELECT kid, sealed_private_key AS "sealedPrivateKey" FROM sealing_keys`);
  }
}

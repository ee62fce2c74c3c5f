import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { CardFingerprint } from './card-fingerprints.js';

/** The hashes of stored cards. */
@Injectable()
export class CardFingerprintRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * While the keys of the hashes are rotated, a number that is typed gives its hash with the first key to the stored cards
   * that have only the hash with the other key. Afterwards the stored cards and the typed number have the same counters.
   */
  async renew({ card, otherCard, range }: CardFingerprint): Promise<void> {
    if (otherCard === undefined) return;
    await this.dataSource.query(
      `UPDATE cards SET fingerprint = $1, other_fingerprint = $2, range_fingerprint = $3 WHERE fingerprint = $2`,
      [card, otherCard, range],
    );
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { TimeZonePeriod } from '@svc/contracts';
import { DataSource } from 'typeorm';
import { SERVING_GENERATION } from '../read-model/read-model.js';

export interface KnownSite {
  readonly siteId: number;
  readonly name: string;
}

export interface KnownMerchant {
  readonly merchantId: number;
  readonly name: string;
  /** The time zones of the merchant's days (M7). */
  readonly timeZones: readonly TimeZonePeriod[];
  /** In the order of their ids, at most 1 000. */
  readonly sites: readonly KnownSite[];
}

/** The names of merchants and their sites. */
@Injectable()
export class MerchantRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The known ones of these merchants, in the order of their names. */
  list(merchantIds: readonly number[]): Promise<KnownMerchant[]> {
    return this.dataSource.query(
      `SELECT m.merchant_id AS "merchantId", m.name, m.time_zones AS "timeZones",
              COALESCE((SELECT json_agg(json_build_object('siteId', s.site_id, 'name', s.name) ORDER BY s.site_id)
                          FROM (SELECT * FROM known_sites k WHERE k.merchant_id = m.merchant_id ORDER BY site_id LIMIT 1000) s),
                       '[]'::json) AS sites
         FROM known_merchants m WHERE m.merchant_id = ANY ($1::bigint[]) ORDER BY m.name, m.merchant_id`,
      [merchantIds],
    );
  }

  async hasLivePayments(merchantId: number): Promise<boolean> {
    // The order lets the statement read one entry of the index of the newest payments.
    const rows = await this.dataSource.query<unknown[]>(
      `SELECT 1 FROM payments WHERE generation = ${SERVING_GENERATION} AND merchant_id = $1 AND mode = 'live'
        ORDER BY payment_utc_date DESC, payment_reference DESC LIMIT 1`,
      [merchantId],
    );
    return rows.length > 0;
  }
}

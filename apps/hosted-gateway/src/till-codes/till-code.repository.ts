import { Inject, Injectable } from '@nestjs/common';
import type { TillCodeCreated } from '@svc/contracts';
import { isOwnCode } from '@svc/kernel';
import { DataSource } from 'typeorm';

/** Reads and stores the static codes of tills. */
@Injectable()
export class TillCodeRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * The merchant to whom a static code belongs. Undefined for an unknown code, and until the merchant's events have
   * arrived.
   */
  async findMerchant(code: string): Promise<{ merchantId: number; merchantName: string } | undefined> {
    if (!isOwnCode(code)) return undefined;
    const [row] = await this.dataSource.query<{ merchantId: number; merchantName: string | null }[]>(
      `SELECT merchant_id AS "merchantId", (SELECT merchant_name FROM known_sites s WHERE s.merchant_id = c.merchant_id AND s.site_id = c.site_id) AS "merchantName"
         FROM known_till_codes c WHERE c.code = $1`,
      [code],
    );
    const { merchantId = 0, merchantName = null } = row ?? {};
    return merchantName === null ? undefined : { merchantId, merchantName };
  }

  /** Existing rows stay unchanged, because the till of a code never changes. */
  async insertIfAbsent(tills: readonly TillCodeCreated[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO known_till_codes (code, mode, merchant_id, site_id, site_reference)
       SELECT code, mode, "merchantId", "siteId", "siteReference"
         FROM jsonb_to_recordset($1::jsonb) AS r(code text, mode text, "merchantId" bigint, "siteId" bigint, "siteReference" text)
       ON CONFLICT (code) DO NOTHING`,
      [JSON.stringify(tills)],
    );
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { Merchant, MerchantFeatures } from '@svc/contracts';
import { DataSource } from 'typeorm';
import type { InvoiceOwner } from '../invoices/invoice.repository.js';
import { currencySymbol } from './currency-symbol.js';

/** Reads the merchant data that payers see (specification, "Merchant"). */
@Injectable()
export class MerchantProfileQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Requires the site to be stored in this service, which is true for the site of each invoice. Until the event with
   * the merchant's features has arrived, no feature is enabled.
   */
  async get({ merchantId, siteId }: Omit<InvoiceOwner, 'mode'>, currencyISOCode: string): Promise<Merchant> {
    const [row] = await this.dataSource.query<{ name: string; features: MerchantFeatures | null }[]>(
      `SELECT coalesce(m.name, s.merchant_name) AS name, m.features
         FROM known_sites s LEFT JOIN known_merchants m ON m.merchant_id = s.merchant_id
        WHERE s.merchant_id = $1 AND s.site_id = $2`,
      [merchantId, siteId],
    );
    if (!row) throw new Error('The site of this invoice is not known.');
    return {
      merchantReference: String(merchantId),
      merchantName: row.name,
      currencyISOCode,
      currencySymbol: currencySymbol(currencyISOCode),
      features: row.features ?? {},
    };
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { Clock, newOwnCode } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { InvoiceOwner } from '../invoices/invoice.repository.js';

/** Static codes of tills (D5): printed once, they mean whatever is open at the till when they are scanned. */
@Injectable()
export class TillCodes {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The till's code; made when it has none. A till has one for ever: it is printed. */
  async ensure(site: InvoiceOwner, siteReference: string): Promise<{ code: string; made: boolean }> {
    const [made] = await this.dataSource.query<{ code: string }[]>(
      `INSERT INTO till_codes (code, mode, merchant_id, site_id, site_reference, made_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (site_id, mode, site_reference) DO NOTHING RETURNING code`,
      [newOwnCode(), site.mode, site.merchantId, site.siteId, siteReference, this.clock.now()],
    );
    if (made) return { code: made.code, made: true };
    const code = await this.find(site, siteReference);
    if (code === undefined) throw new Error('The code of a till is neither there nor to be made.');
    return { code, made: false };
  }

  async find(site: InvoiceOwner, siteReference: string): Promise<string | undefined> {
    const [row] = await this.dataSource.query<{ code: string }[]>(
      `SELECT code FROM till_codes WHERE site_id = $1 AND mode = $2 AND site_reference = $3 AND merchant_id = $4`,
      [site.siteId, site.mode, siteReference, site.merchantId],
    );
    return row?.code;
  }
}

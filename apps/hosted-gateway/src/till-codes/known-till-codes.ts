import { Inject, Injectable } from '@nestjs/common';
import type { InvoiceCreated, TillCodeMade } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';

/** A code of a till, as far as somebody is told who opens it with a camera. */
export interface KnownTillCode {
  readonly merchantName: string;
  /** Cents; null for the static code of a till. */
  readonly amountCents: number | null;
  /** With the amount. */
  readonly currencyISOCode: string | null;
}

/**
 * Codes of tills. They are paid through the API, by an app that has scanned them (D5); here it is only known that they are
 * there. What becomes of an invoice is not: the app is told.
 */
@Injectable()
export class KnownTillCodes {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Not of an invoice that has expired, nor of a merchant whose events have not arrived. */
  async find(code: string): Promise<KnownTillCode | undefined> {
    const [row] = await this.dataSource.query<
      (Omit<KnownTillCode, 'merchantName'> & { merchantName: string | null })[]
    >(
      `SELECT (SELECT merchant_name FROM known_sites s WHERE s.merchant_id = c.merchant_id AND s.site_id = c.site_id) AS "merchantName",
              c.amount AS "amountCents", c.currency AS "currencyISOCode"
         FROM known_till_codes c WHERE c.code = $1 AND (c.expires_at IS NULL OR c.expires_at > $2)`,
      [code, this.clock.now()],
    );
    const merchantName = row?.merchantName;
    return row && typeof merchantName === 'string' ? { ...row, merchantName } : undefined;
  }

  async keepInvoices(invoices: readonly InvoiceCreated[]): Promise<void> {
    await this.keep(
      invoices.map(({ payable }) => ({
        code: payable.source.code,
        merchantId: payable.merchantId,
        siteId: payable.siteId,
        amount: payable.amount,
        currency: payable.currencyISOCode,
        expiresAt: payable.expiresAt,
      })),
    );
  }

  async keepTills(tills: readonly TillCodeMade[]): Promise<void> {
    await this.keep(tills.map(({ code, merchantId, siteId }) => ({ code, merchantId, siteId })));
  }

  private async keep(rows: readonly object[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO known_till_codes (code, merchant_id, site_id, amount, currency, expires_at)
       SELECT code, "merchantId", "siteId", amount, currency, "expiresAt"
         FROM jsonb_to_recordset($1::jsonb) AS r(code text, "merchantId" bigint, "siteId" bigint, amount bigint, currency text, "expiresAt" timestamptz)
       ON CONFLICT (code) DO NOTHING`,
      [JSON.stringify(rows)],
    );
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1, type TillCodeMade } from '@svc/contracts';
import { Clock, isOwnCode, KeptForASecond } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { DataSource } from 'typeorm';
import type { TillInvoice } from './till-invoice.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

/** A static code, as far as a payer is told. */
export interface KnownTillCode {
  readonly merchantName: string;
}

/** Longest that a payer waits for code-decoder, which answers from its own table. */
const ANSWER_MS_MAX = 2_000;

/** Static codes of tills (D5): each means the till's newest open invoice, whenever it is opened. */
@Injectable()
export class KnownTillCodes {
  /** However many phones wait at a till, code-decoder is asked once a second. */
  private readonly atTills: KeptForASecond<{ invoiceReference?: string }>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) clock: Clock,
  ) {
    this.atTills = new KeptForASecond(clock);
  }

  /** Not of a merchant whose events have not arrived. */
  async find(code: string): Promise<KnownTillCode | undefined> {
    if (!isOwnCode(code)) return undefined;
    const [row] = await this.dataSource.query<{ merchantName: string | null }[]>(
      `SELECT (SELECT merchant_name FROM known_sites s WHERE s.merchant_id = c.merchant_id AND s.site_id = c.site_id) AS "merchantName"
         FROM known_till_codes c WHERE c.code = $1 AND c.expires_at IS NULL`,
      [code],
    );
    const merchantName = row?.merchantName;
    return typeof merchantName === 'string' ? { merchantName } : undefined;
  }

  /**
   * What is to be paid at the till of this static code now; undefined also while the invoice's own event is on the way. Throws
   * `service.not-ready` without code-decoder.
   */
  async findOpenInvoice(code: string): Promise<TillInvoice | undefined> {
    const atTill = await this.atTills.find(code, () =>
      this.commands.request(FindTillInvoiceV1, { code }, ANSWER_MS_MAX),
    );
    return atTill?.invoiceReference === undefined ? undefined : this.invoices.find(atTill.invoiceReference);
  }

  /** Replay: a code means one thing for ever, so one that is kept stays. */
  async keepTills(tills: readonly TillCodeMade[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO known_till_codes (code, merchant_id, site_id)
       SELECT code, "merchantId", "siteId" FROM jsonb_to_recordset($1::jsonb) AS r(code text, "merchantId" bigint, "siteId" bigint)
       ON CONFLICT (code) DO NOTHING`,
      [JSON.stringify(tills)],
    );
  }
}

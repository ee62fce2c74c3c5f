import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1, type TillCodeMade } from '@svc/contracts';
import { Clock, isOwnCode, TtlCache } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { TillCodeRepository } from './till-code.repository.js';
import type { TillInvoice } from './till-invoice.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

/** The data of a static code that payers may see. */
export interface TillCode {
  readonly merchantName: string;
}

/** A payer waits at most this long for code-decoder, which reads the answer from its own table. */
const RESPONSE_TIMEOUT_MS = 2_000;

/** Static codes of tills (D5): each refers to the newest open invoice of its till at the time of the request. */
@Injectable()
export class TillCodes {
  /** At most one query per second to code-decoder for each till, independent of the number of waiting phones. */
  private readonly openInvoices: TtlCache<{ invoiceReference?: string }>;

  constructor(
    @Inject(TillCodeRepository) private readonly tillCodes: TillCodeRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) clock: Clock,
  ) {
    this.openInvoices = new TtlCache(clock);
  }

  /** Undefined for an unknown code, and until the events of its merchant have arrived. */
  async find(code: string): Promise<TillCode | undefined> {
    if (!isOwnCode(code)) return undefined;
    const merchantName = await this.tillCodes.findMerchantName(code);
    return merchantName === undefined ? undefined : { merchantName };
  }

  /**
   * The open invoice at the till of this static code; undefined until the event of the invoice has arrived. Throws
   * `service.not-ready` if code-decoder is unavailable.
   */
  async findOpenInvoice(code: string): Promise<TillInvoice | undefined> {
    const atTill = await this.openInvoices.find(code, () =>
      this.commands.request(FindTillInvoiceV1, { code }, RESPONSE_TIMEOUT_MS),
    );
    return atTill?.invoiceReference === undefined ? undefined : this.invoices.find(atTill.invoiceReference);
  }

  /** Replay: the till of a code never changes, so existing rows stay. */
  async insertIfAbsent(tills: readonly TillCodeMade[]): Promise<void> {
    await this.tillCodes.insertIfAbsent(tills);
  }
}

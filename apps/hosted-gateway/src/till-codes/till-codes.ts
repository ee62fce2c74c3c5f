import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1, type TillCodeCreated } from '@svc/contracts';
import { Clock, isOwnCode, TtlCache } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { TillCodeRepository } from './till-code.repository.js';
import type { TillInvoice } from './till-invoice.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

/** The public data of a static code. */
export interface TillCode {
  readonly merchantName: string;
}

/** Timeout of the query to code-decoder. The payer waits for its reply. */
const RESPONSE_TIMEOUT_MS = 2_000;

/** Static codes of tills (D5). At each request, a static code refers to the newest open invoice of its till. */
@Injectable()
export class TillCodes {
  /** Caches replies for one second, so that code-decoder gets at most one query per second for each till. */
  private readonly openInvoices: TtlCache<{ invoiceReference?: string }>;

  constructor(
    @Inject(TillCodeRepository) private readonly tillCodes: TillCodeRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) clock: Clock,
  ) {
    this.openInvoices = new TtlCache(clock);
  }

  /** Finds a static code. Undefined for an unknown code, and until the events of its merchant have arrived. */
  async find(code: string): Promise<TillCode | undefined> {
    if (!isOwnCode(code)) return undefined;
    const merchantName = await this.tillCodes.findMerchantName(code);
    return merchantName === undefined ? undefined : { merchantName };
  }

  /**
   * The open invoice at the till of this static code. Undefined if there is none, and until the event of the invoice
   * has arrived. Throws `service.not-ready` if code-decoder is unavailable.
   */
  async findOpenInvoice(code: string): Promise<TillInvoice | undefined> {
    const reply = await this.openInvoices.find(code, () =>
      this.commands.request(FindTillInvoiceV1, { code }, RESPONSE_TIMEOUT_MS),
    );
    return reply?.invoiceReference === undefined ? undefined : this.invoices.find(reply.invoiceReference);
  }

  /** Stores new static codes. Existing rows stay unchanged, because the till of a code never changes. */
  async insertIfAbsent(tills: readonly TillCodeCreated[]): Promise<void> {
    await this.tillCodes.insertIfAbsent(tills);
  }
}

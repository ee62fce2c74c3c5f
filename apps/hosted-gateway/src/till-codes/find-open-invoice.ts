import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1 } from '@svc/contracts';
import { Clock, TtlCache } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { TillInvoice } from './till-invoice.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

/** Timeout of the query to code-decoder. The payer waits for its reply. */
const RESPONSE_TIMEOUT_MS = 2_000;

/** Finds the newest open invoice at the till of a static code (D5). */
@Injectable()
export class FindOpenInvoice {
  /** Caches replies for one second, so that code-decoder gets at most one query per second for each till. */
  private readonly replies: TtlCache<{ invoiceReference?: string }>;

  constructor(
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) clock: Clock,
  ) {
    this.replies = new TtlCache(clock);
  }

  /**
   * Undefined if the till has no open invoice, and until the event of the invoice has arrived. Throws
   * `service.not-ready` if code-decoder is unavailable.
   */
  async execute(code: string): Promise<TillInvoice | undefined> {
    const reply = await this.replies.find(code, () =>
      this.commands.request(FindTillInvoiceV1, { code }, RESPONSE_TIMEOUT_MS),
    );
    return reply?.invoiceReference === undefined ? undefined : this.invoices.find(reply.invoiceReference);
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { FindTillInvoiceV1, type TillCodeMade } from '@svc/contracts';
import { Clock, isOwnCode, KeptForASecond } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { TillCodeRepository } from './till-code.repository.js';
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
    @Inject(TillCodeRepository) private readonly tillCodes: TillCodeRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) clock: Clock,
  ) {
    this.atTills = new KeptForASecond(clock);
  }

  /** Not of a merchant whose events have not arrived. */
  async find(code: string): Promise<KnownTillCode | undefined> {
    if (!isOwnCode(code)) return undefined;
    const merchantName = await this.tillCodes.findMerchantName(code);
    return merchantName === undefined ? undefined : { merchantName };
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
    await this.tillCodes.insertIfAbsent(tills);
  }
}

import { Controller, Inject } from '@nestjs/common';
import { FindTillInvoiceV1, type Mode } from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { InvoiceRepository } from '../invoices/invoice.repository.js';

/**
 * Finds the open invoice of a till's static code. Does not check an owner, because any person who sees the code may pay
 * the invoice.
 */
@Controller()
export class TillCodesConsumer {
  constructor(@Inject(InvoiceRepository) private readonly invoices: InvoiceRepository) {}

  @MessagePattern(FindTillInvoiceV1)
  async find({ mode, code }: { mode?: Mode; code: string }): Promise<{ invoiceReference?: string }> {
    const invoice = await this.invoices.findByTillCode(mode, code);
    return invoice ? { invoiceReference: invoice.invoiceId } : {};
  }
}

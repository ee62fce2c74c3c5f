import { Inject, Injectable } from '@nestjs/common';
import { ClosePayableV1 } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { PAYABLE_TIMEOUT_MS } from './create-invoice.js';
import { createPayableDescriptor } from './invoice.js';
import { type InvoiceOwner, InvoiceRepository } from './invoice.repository.js';

/** Closes an invoice for payments (D6). Does nothing if it is closed already. */
@Injectable()
export class CloseInvoice {
  constructor(
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `payment.in-progress` while a payment is not final, and `payable.paid` if a payment has just succeeded. */
  async execute(owner: InvoiceOwner, externalReference: string): Promise<void> {
    const invoice = await this.invoices.findByExternalReference(owner, externalReference);
    if (!invoice) throw new DomainError('resource.not-found', { message: 'There is no such invoice.' });
    if (invoice.closedAt !== null) return;
    const payable = await this.commands.request(
      ClosePayableV1,
      { payable: createPayableDescriptor(invoice) },
      PAYABLE_TIMEOUT_MS,
    );
    await this.invoices.applyPayableChanges([{ payable, at: this.clock.nowISO() }]);
  }
}

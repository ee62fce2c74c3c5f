import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, personAuthor } from '@svc/auth';
import { type CancelPaymentRequest as CancelPaymentRequestCommand, ClosePayableV1 } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { PAYABLE_TIMEOUT_MS } from '../invoices/create-invoice.js';
import { createPayableDescriptor } from '../invoices/invoice.js';
import { InvoiceRepository } from '../invoices/invoice.repository.js';

/** Closes the invoice of a payment request, so that its link cannot be paid any more (D7). */
@Injectable()
export class CancelPaymentRequest {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Throws `payment.in-progress` while a payment is not final, and `payable.paid` after a payment. A repeat after a crash
   * completes the audit log: the first person who cancels a request is in it, once.
   */
  async execute(command: CancelPaymentRequestCommand): Promise<void> {
    const { merchantId, siteId, mode, invoiceReference, personId, requestId } = command;
    const owner = { merchantId, siteId, mode };
    const invoice = isUuid(invoiceReference) ? await this.invoices.findOwned(owner, invoiceReference) : undefined;
    if (!invoice || invoice.requestedBy === null) throw new DomainError('resource.not-found');
    if (invoice.payableState === 'paid') throw new DomainError('payable.paid');
    if (invoice.payableState === 'refused') return;
    // payment-processor responds to a repeat with the same state.
    const payable = await this.commands.request(
      ClosePayableV1,
      { payable: createPayableDescriptor(invoice) },
      PAYABLE_TIMEOUT_MS,
    );
    await inTransaction(this.dataSource, async (tx) => {
      await this.invoices.applyPayableChanges([{ payable, at: this.clock.nowISO() }], tx);
      if (!(await this.invoices.setCancelledBy(tx, owner, invoice.invoiceId, personId))) return;
      await this.audit.append(tx, personAuthor(personId, requestId), {
        action: 'payment-request.cancelled',
        merchantId,
        siteId,
        after: { mode, invoiceReference },
      });
    });
  }
}

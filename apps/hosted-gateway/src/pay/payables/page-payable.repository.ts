import { Inject, Injectable } from '@nestjs/common';
import { isHostedPayment, type PayableSnapshot } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { PaymentCopy } from '../../payment-copies/payment-copy.js';
import { isScanned, isStaticCode, type PayerAddress } from '../../sessions/payer-address.js';
import { SessionRepository } from '../../sessions/session.repository.js';
import { isInvoicePayment } from '../../till-codes/till-invoice.js';
import { TillInvoiceRepository } from '../../till-codes/till-invoice.repository.js';
import { isInvoice, type PagePayable } from './page-payable.js';

/** Finds and updates sessions and invoices of tills, so that callers need not distinguish the two kinds. */
@Injectable()
export class PagePayableRepository {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
  ) {}

  /**
   * Finds an invoice only by a code, not by its reference alone: the reference is not secret, because partners receive
   * it.
   */
  async findByAddress(address: PayerAddress): Promise<PagePayable | undefined> {
    if (isStaticCode(address)) return this.invoices.findByStaticCode(address.code, address.invoiceReference);
    const session = await this.sessions.findByAddress(address);
    return session ?? (isScanned(address) ? this.invoices.findByCode(address.code) : undefined);
  }

  /** Throws `resource.not-found` if there is no session or invoice at the address. */
  async getByAddress(address: PayerAddress): Promise<PagePayable> {
    const payable = await this.findByAddress(address);
    if (!payable) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    return payable;
  }

  /** Reads the payable again. */
  async reload<P extends PagePayable>(payable: P): Promise<P> {
    const found = isInvoice(payable)
      ? await this.invoices.find(payable.invoiceReference)
      : await this.sessions.findWithPayments(payable.sessionId);
    return (found as P | undefined) ?? payable;
  }

  async upsertPayment(payment: PaymentCopy): Promise<void> {
    if (isHostedPayment(payment)) await this.sessions.upsertPayment(payment);
    else await this.upsertPayments([payment]);
  }

  async upsertPayments(payments: readonly PaymentCopy[]): Promise<void> {
    await this.sessions.upsertPayments(payments.filter(isHostedPayment));
    await this.invoices.upsertPayments(payments.filter(isInvoicePayment));
  }

  /** Stores the new state of an invoice that changed without a payment. The newest version wins. */
  updateInvoice(payable: PayableSnapshot): Promise<void> {
    return this.invoices.updatePayable(payable);
  }

  /** Versions of the payables with open event streams. */
  async findVersions(payableIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sessions = await this.sessions.findVersions(payableIds);
    const otherIds = payableIds.filter((id) => !sessions.has(id));
    return otherIds.length === 0 ? sessions : new Map([...sessions, ...(await this.invoices.findVersions(otherIds))]);
  }
}

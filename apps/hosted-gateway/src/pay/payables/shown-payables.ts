import { Inject, Injectable } from '@nestjs/common';
import { type AnyPaymentSnapshot, isHosted, type PayableSnapshot } from '@svc/contracts';
import { DataSource } from 'typeorm';
import { isScanned, type PayerAddress } from '../../sessions/payer-address.js';
import { SessionRepository } from '../../sessions/session.repository.js';
import { isOfInvoice } from '../../till-codes/till-invoice.js';
import { TillInvoiceRepository } from '../../till-codes/till-invoice.repository.js';
import { isInvoice, type ShownPayable } from './shown-payable.js';

/** Finds and keeps both, so that the page and its calls need not know which of them it is. */
@Injectable()
export class ShownPayables {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
    @Inject(DataSource) private readonly dataSource: DataSource,
  ) {}

  /** An invoice is found by its code alone: its reference is known to every partner that has decoded it. */
  async findAt(address: PayerAddress): Promise<ShownPayable | undefined> {
    const session = await this.sessions.findAt(address);
    return session ?? (isScanned(address) ? this.invoices.findByCode(address.code) : undefined);
  }

  /** As it is now. */
  async findAgain<Shown extends ShownPayable>(shown: Shown): Promise<Shown> {
    const found = isInvoice(shown)
      ? await this.invoices.find(shown.invoiceReference)
      : await this.sessions.findWithPayments(shown.sessionId);
    return (found as Shown | undefined) ?? shown;
  }

  async keepPayment(payment: AnyPaymentSnapshot): Promise<void> {
    if (isHosted(payment)) await this.sessions.keepPayment(payment);
    else await this.keepPayments([payment]);
  }

  async keepPayments(payments: readonly AnyPaymentSnapshot[]): Promise<void> {
    await this.sessions.keepPayments(payments.filter(isHosted));
    await this.invoices.keepPayments(payments.filter(isOfInvoice));
  }

  /** As {@link keepPayments}, for an invoice that changed without a payment. */
  keepPayable(payable: PayableSnapshot): Promise<void> {
    return this.invoices.keepPayable(this.dataSource, payable);
  }

  /** Versions of what somebody watches. */
  async versionsOf(payableIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sessions = await this.sessions.versionsOf(payableIds);
    const others = payableIds.filter((id) => !sessions.has(id));
    return others.length === 0 ? sessions : new Map([...sessions, ...(await this.invoices.versionsOf(others))]);
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { ClosePayableV1, type CreateInvoiceRequest, OpenPayableV1 } from '@svc/contracts';
import { Clock, DomainError, newOwnCode, newUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { CodeDecoderConfig } from '../config.js';
import { fingerprintOf, invoiceState, lineItemOf, payableOf, type StoredInvoice } from './invoice.js';
import { type InvoiceOwner, InvoiceRepository } from './invoice.repository.js';

/** A till waits no longer for payment-processor: it is told to come again. */
export const PAYABLE_TIMEOUT_MS = 5_000;
/** Requests with one externalReference at the same time: each round at least one of them is done. */
const ROUNDS_MAX = 4;

/**
 * Makes an invoice that can be paid and decoded as soon as this returns (D6). The payable comes first: an invoice that
 * nobody can pay is never shown, and one that was opened for nothing, because the process ended in between, has an id
 * that nobody knows and expires by itself. Needs payment-processor; without it `service.not-ready`, and nothing is made.
 */
@Injectable()
export class CreateInvoice {
  constructor(
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(CodeDecoderConfig) private readonly config: CodeDecoderConfig,
  ) {}

  /**
   * The same externalReference while open: the same request gives the same invoice, another one replaces it. Throws
   * `payment.in-progress` or `payable.paid` when that is so of the one to be replaced.
   */
  async execute(
    owner: InvoiceOwner,
    request: CreateInvoiceRequest,
  ): Promise<{ invoice: StoredInvoice; replayed: boolean }> {
    const fingerprint = fingerprintOf(request);
    const { externalReference } = request;
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      const standing = externalReference
        ? await this.invoices.findByExternalReference(owner, externalReference)
        : undefined;
      if (standing?.fingerprint === fingerprint && invoiceState(standing, this.clock.now()) === 'open')
        return { invoice: standing, replayed: true };

      const invoice = this.newInvoice(owner, request, fingerprint);
      await this.openPayable(invoice, isOver(standing) ? undefined : standing);
      if (await this.invoices.create(invoice)) return { invoice, replayed: false };
      // Another request with this externalReference was faster: nobody is shown this one.
      await this.commands.request(ClosePayableV1, { payable: payableOf(invoice) }, PAYABLE_TIMEOUT_MS);
    }
    throw new DomainError('resource.conflict', {
      message: 'Other invoices with this externalReference are being made. Try again.',
      retryAfterSeconds: 1,
    });
  }

  private async openPayable(invoice: StoredInvoice, replaces: StoredInvoice | undefined): Promise<void> {
    const { replaced } = await this.commands.request(
      OpenPayableV1,
      { payable: payableOf(invoice), ...(replaces ? { replaces: payableOf(replaces) } : {}) },
      PAYABLE_TIMEOUT_MS,
    );
    if (replaced) await this.invoices.keepPayables([{ payable: replaced, at: this.clock.nowISO() }]);
  }

  private newInvoice(owner: InvoiceOwner, request: CreateInvoiceRequest, fingerprint: string): StoredInvoice {
    const now = this.clock.now();
    return {
      invoiceId: newUuid(this.clock),
      mode: owner.mode,
      merchantId: owner.merchantId,
      siteId: owner.siteId,
      siteReference: request.siteReference,
      externalReference: request.externalReference ?? null,
      fingerprint,
      code: newOwnCode(),
      amount: request.amount,
      currencyISOCode: request.currencyISOCode,
      lineItems: request.lineItems?.map(lineItemOf) ?? null,
      origin: request.origin,
      originReference: request.originReference ?? null,
      createdUTCDate: new Date(request.createdUTCDate),
      madeAt: now,
      expiresAt: new Date(now.getTime() + this.config.SVC_INVOICE_LIFETIME_SECONDS * 1_000),
      payableState: 'open',
      payableVersion: 1,
      closedAt: null,
    };
  }
}

/** Whether its payable can no longer be paid. One that has only expired must be closed to make room for another. */
function isOver(invoice: StoredInvoice | undefined): boolean {
  return invoice === undefined || invoice.closedAt !== null;
}

import { Inject, Injectable } from '@nestjs/common';
import { ClosePayableV1, type CreateInvoiceRequest, OpenPayableV1 } from '@svc/contracts';
import { Clock, DomainError, newOwnCode, newUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { CodeDecoderConfig } from '../config.js';
import { fingerprintOf, invoiceState, lineItemOf, payableOf, type StoredInvoice } from './invoice.js';
import { type InvoiceOwner, InvoiceRepository } from './invoice.repository.js';

/** Timeout for payment-processor. After it the till gets a 503 and retries. */
export const PAYABLE_TIMEOUT_MS = 5_000;
/** Attempts for concurrent requests with one externalReference: in each, at least one of these requests succeeds. */
const MAX_ATTEMPTS = 4;

/**
 * Creates an invoice that can be paid and decoded as soon as this returns (D6). It opens the payable first, so that an unpayable
 * invoice is never shown. If the process ends in between, the payable expires unused: its id was never
 * published. Requires payment-processor; without it throws `service.not-ready` and creates nothing.
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
   * If an open invoice has the same externalReference, the same request returns it, and a different request replaces it. Throws
   * `payment.in-progress` or `payable.paid` if the invoice to replace has that state.
   */
  async execute(
    owner: InvoiceOwner,
    request: CreateInvoiceRequest,
  ): Promise<{ invoice: StoredInvoice; replayed: boolean }> {
    const fingerprint = fingerprintOf(request);
    const { externalReference } = request;
    for (let round = 1; round <= MAX_ATTEMPTS; round++) {
      const existing = externalReference
        ? await this.invoices.findByExternalReference(owner, externalReference)
        : undefined;
      if (existing?.fingerprint === fingerprint && invoiceState(existing, this.clock.now()) === 'open')
        return { invoice: existing, replayed: true };

      const invoice = this.newInvoice(owner, request, fingerprint);
      await this.openPayable(invoice, isClosed(existing) ? undefined : existing);
      if (await this.invoices.create(invoice)) return { invoice, replayed: false };
      // Another request with this externalReference was faster: close this payable, which was never published.
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
    if (replaced) await this.invoices.applyPayableChanges([{ payable: replaced, at: this.clock.nowISO() }]);
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

/** True if there is no payable left to close. An expired one is still open and must be closed before it is replaced. */
function isClosed(invoice: StoredInvoice | undefined): boolean {
  return invoice === undefined || invoice.closedAt !== null;
}

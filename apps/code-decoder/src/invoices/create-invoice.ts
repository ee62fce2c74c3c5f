import { Inject, Injectable } from '@nestjs/common';
import { ClosePayableV1, type CreateInvoiceRequest, OpenPayableV1 } from '@svc/contracts';
import { Clock, DomainError, newOwnCode, newUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { CodeDecoderConfig } from '../config.js';
import {
  computeFingerprint,
  createPayableDescriptor,
  invoiceState,
  normaliseLineItem,
  type StoredInvoice,
} from './invoice.js';
import { type InvoiceOwner, InvoiceRepository } from './invoice.repository.js';

/** Timeout for a response of payment-processor. After this time, the till gets a 503 and retries. */
export const PAYABLE_TIMEOUT_MS = 5_000;
/**
 * Maximum number of attempts if concurrent requests have the same externalReference. In each attempt, at least one of
 * these requests succeeds.
 */
const MAX_ATTEMPTS = 4;

/**
 * Creates an invoice that can be paid and decoded as soon as `execute` returns (D6). It opens the payable before it
 * stores the invoice, so that every visible invoice can be paid. If the process ends between the two steps, the payable
 * expires unused, because its id was never published. If payment-processor does not respond, `execute` throws
 * `service.not-ready` and creates nothing.
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
   * If an open invoice has the same externalReference, an identical request returns that invoice, and a different
   * request replaces it. Throws `payment.in-progress` or `payable.paid` if the invoice cannot be replaced because of
   * its payment.
   */
  async execute(
    owner: InvoiceOwner,
    request: CreateInvoiceRequest,
  ): Promise<{ invoice: StoredInvoice; isReplayed: boolean }> {
    const fingerprint = computeFingerprint(request);
    const { externalReference } = request;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const existing = externalReference
        ? await this.invoices.findByExternalReference(owner, externalReference)
        : undefined;
      if (existing?.fingerprint === fingerprint && invoiceState(existing, this.clock.now()) === 'open')
        return { invoice: existing, isReplayed: true };

      const invoice = this.newInvoice(owner, request, fingerprint);
      await this.openPayable(invoice, isMissingOrClosed(existing) ? undefined : existing);
      if (await this.invoices.create(invoice)) return { invoice, isReplayed: false };
      // A concurrent request with this externalReference stored its invoice first. Close the payable of this request's
      // invoice, which is not stored.
      await this.commands.request(ClosePayableV1, { payable: createPayableDescriptor(invoice) }, PAYABLE_TIMEOUT_MS);
    }
    throw new DomainError('resource.conflict', {
      message: 'Other invoices with this externalReference are being made. Try again.',
      retryAfterSeconds: 1,
    });
  }

  private async openPayable(invoice: StoredInvoice, invoiceToReplace: StoredInvoice | undefined): Promise<void> {
    const { replaced } = await this.commands.request(
      OpenPayableV1,
      {
        payable: createPayableDescriptor(invoice),
        ...(invoiceToReplace ? { replaces: createPayableDescriptor(invoiceToReplace) } : {}),
      },
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
      lineItems: request.lineItems?.map(normaliseLineItem) ?? null,
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

/**
 * Whether there is no payable to close. The payable of an expired invoice is still open, and must be closed before the
 * invoice is replaced.
 */
function isMissingOrClosed(invoice: StoredInvoice | undefined): boolean {
  return invoice === undefined || invoice.closedAt !== null;
}

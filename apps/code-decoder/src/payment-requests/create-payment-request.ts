import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, personAuthor } from '@svc/auth';
import {
  ClosePayableV1,
  type CreatedPaymentRequest,
  type CreatePaymentRequest as CreatePaymentRequestCommand,
  OpenPayableV1,
} from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { PAYABLE_TIMEOUT_MS } from '../invoices/create-invoice.js';
import { createPayableDescriptor, invoiceState, newInvoice, type StoredInvoice } from '../invoices/invoice.js';
import { InvoiceRepository, isReferenceTaken } from '../invoices/invoice.repository.js';
import { InvoiceRequestRepository } from '../invoices/invoice-request.repository.js';
import type { RequestIdentity } from '../invoices/request-identity.js';
import { findSiteReference } from './find-site-reference.query.js';
import { buildInvoiceRequest, identifyPaymentRequest, readPaymentRequest } from './payment-request.js';

/** A form that is sent twice at once loses one attempt to the other, and finds its invoice in the next. */
const MAX_ATTEMPTS = 3;

/**
 * Creates a payment request: the invoice that a person of the merchant sends to a payer (D7). As for a till, the payable
 * is opened first, so that every link can be paid.
 */
@Injectable()
export class CreatePaymentRequest {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(InvoiceRequestRepository) private readonly requests: InvoiceRequestRepository,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Returns the payment request of an earlier command with the same key. Unlike a till, it replaces no open invoice with
   * the same externalReference, because the person cannot see that another payer may hold that invoice's code.
   */
  async execute(command: CreatePaymentRequestCommand): Promise<CreatedPaymentRequest> {
    const owner = { merchantId: command.merchantId, siteId: command.siteId, mode: command.mode };
    const siteReference = await findSiteReference(this.dataSource, owner.merchantId, owner.siteId);
    if (siteReference === undefined) throw new DomainError('resource.not-found');
    const identity = identifyPaymentRequest(command);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const [earlier] = await this.requests.find(owner, [identity]);
      if (earlier && earlier.requestFingerprint !== identity.requestFingerprint)
        throw new DomainError('request.idempotency-conflict');
      const repeated = earlier && (await this.invoices.findOwned(owner, earlier.invoiceId));
      if (repeated) return toReply(repeated);

      const now = this.clock.now();
      // Only a new payment request must have a valid expiry: a repeat may come later.
      const { expiresAt, ...request } = readPaymentRequest(command, now);
      const existing =
        request.externalReference === undefined
          ? undefined
          : await this.invoices.findByExternalReference(owner, request.externalReference);
      if (existing && existing.closedAt === null && invoiceState(existing, now) === 'open')
        throw new DomainError('resource.conflict', { message: 'An open invoice has this order number.' });

      const invoice = newInvoice(
        owner,
        buildInvoiceRequest(request, siteReference, now),
        { now, expiresAt },
        request.personId,
      );
      await this.openPayable(invoice, existing?.closedAt === null ? existing : undefined);
      if (await this.store(invoice, identity, command)) return toReply(invoice);
      // Another command stored its invoice first.
      await this.commands.request(ClosePayableV1, { payable: createPayableDescriptor(invoice) }, PAYABLE_TIMEOUT_MS);
    }
    throw new DomainError('resource.conflict', { retryAfterSeconds: 1 });
  }

  /** @param expired the expired invoice with the same externalReference, whose payable is still open */
  private async openPayable(invoice: StoredInvoice, expired: StoredInvoice | undefined): Promise<void> {
    const { replaced } = await this.commands.request(
      OpenPayableV1,
      {
        payable: createPayableDescriptor(invoice),
        ...(expired ? { replaces: createPayableDescriptor(expired) } : {}),
      },
      PAYABLE_TIMEOUT_MS,
    );
    if (replaced) await this.invoices.applyPayableChanges([{ payable: replaced, at: this.clock.nowISO() }]);
  }

  private async store(
    invoice: StoredInvoice,
    identity: RequestIdentity,
    { personId, requestId }: CreatePaymentRequestCommand,
  ): Promise<boolean> {
    try {
      return await inTransaction(this.dataSource, async (tx) => {
        if (!(await this.invoices.createIn(tx, invoice, [identity]))) return false;
        const { merchantId, siteId, mode, invoiceId: invoiceReference, amount, expiresAt } = invoice;
        await this.audit.append(tx, personAuthor(personId, requestId), {
          action: 'payment-request.created',
          merchantId,
          siteId,
          after: { mode, invoiceReference, amount, expiresUTCDate: expiresAt.toISOString() },
        });
        return true;
      });
    } catch (error) {
      if (isReferenceTaken(error)) return false;
      throw error;
    }
  }
}

function toReply({ invoiceId, code, expiresAt }: StoredInvoice): CreatedPaymentRequest {
  return { invoiceReference: invoiceId, code, expiresUTCDate: expiresAt.toISOString() };
}

import { Inject, Injectable } from '@nestjs/common';
import { ClosePayableV1, type CreateInvoiceRequest, OpenPayableV1 } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { CodeDecoderConfig } from '../config.js';
import {
  computeInvoiceFingerprint,
  createPayableDescriptor,
  invoiceState,
  newInvoice,
  type StoredInvoice,
} from './invoice.js';
import { type InvoiceOwner, InvoiceRepository } from './invoice.repository.js';
import { InvoiceRequestRepository } from './invoice-request.repository.js';
import { identifyRequest, type RequestIdentities, type RequestIdentity } from './request-identity.js';

/** Timeout for a response of payment-processor. After this time, the till gets a 503 and retries. */
export const PAYABLE_TIMEOUT_MS = 5_000;
/**
 * Maximum number of attempts if concurrent requests have the same externalReference or Idempotency-Key. In each
 * attempt, at least one of these requests succeeds.
 */
const MAX_ATTEMPTS = 4;

/** The invoices that earlier requests with the identities of a request have created or returned. */
interface RepeatedRequests {
  readonly byKey?: StoredInvoice | undefined;
  readonly byBody?: StoredInvoice | undefined;
  /** The invoice of the same body, if it has expired. */
  readonly expired?: StoredInvoice | undefined;
  /** The identities of no earlier request, or of an earlier request whose invoice has expired. */
  readonly notStored: readonly RequestIdentity[];
}

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
    @Inject(InvoiceRequestRepository) private readonly requests: InvoiceRequestRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(CodeDecoderConfig) private readonly config: CodeDecoderConfig,
  ) {}

  /**
   * A repeated request returns the invoice of the first request in its present state, so that a client which repeats a
   * request after a lost response never creates a second debt. A request is a repeat for 72 hours, if it has the same
   * Idempotency-Key, or the same body with an externalReference. Another request replaces the open invoice with the
   * same externalReference.
   *
   * Throws `request.idempotency-conflict` if the key was used with another body, and `payment.in-progress` or
   * `payable.paid` if the open invoice cannot be replaced because of its payment.
   */
  async execute(
    owner: InvoiceOwner,
    request: CreateInvoiceRequest,
    idempotencyKey?: string,
  ): Promise<{ invoice: StoredInvoice; isReplayed: boolean }> {
    const identities = identifyRequest(request, idempotencyKey);
    const invoiceFingerprint = computeInvoiceFingerprint(request);
    const { externalReference } = request;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // This look-up must be the first. If it finds the invoice of a concurrent repeat of this request, the second
      // look-up finds it too. In the other order, this request could replace that invoice.
      const existing = externalReference
        ? await this.invoices.findByExternalReference(owner, externalReference)
        : undefined;
      const repeated = await this.findRepeated(owner, identities);
      const isExistingEqual = existing?.invoiceFingerprint === invoiceFingerprint && this.stateOf(existing) === 'open';
      const found = repeated.byKey ?? repeated.byBody ?? (isExistingEqual ? existing : undefined);
      if (found) {
        // Each identity is stored, also if the other one has found the invoice: a repeat may have only one of them.
        const { byKey, expired, notStored } = repeated;
        const areStored = await this.requests.insertIfAbsent(owner, notStored, found.invoiceId, expired?.invoiceId);
        if (areStored || byKey) return { invoice: found, isReplayed: true };
        continue;
      }

      const now = this.clock.now();
      const expiresAt = new Date(now.getTime() + this.config.SVC_INVOICE_LIFETIME_SECONDS * 1_000);
      const invoice = newInvoice(owner, request, { now, expiresAt });
      await this.openPayable(invoice, isMissingOrClosed(existing) ? undefined : existing);
      const requests = [identities.key, identities.body].filter((identity) => identity !== undefined);
      if (await this.invoices.create(invoice, requests, repeated.expired?.invoiceId))
        return { invoice, isReplayed: false };
      // A concurrent request with this externalReference or key stored its invoice first. Close the payable of this
      // request's invoice, which is not stored.
      await this.commands.request(ClosePayableV1, { payable: createPayableDescriptor(invoice) }, PAYABLE_TIMEOUT_MS);
    }
    throw new DomainError('resource.conflict', {
      message: 'Other invoices with this externalReference or Idempotency-Key are being made. Try again.',
      retryAfterSeconds: 1,
    });
  }

  /**
   * The invoices of earlier requests with the same key and with the same body. An expired invoice cannot be paid, so an
   * equal body may create another one. An equal key may not, because a key never creates two invoices.
   */
  private async findRepeated(owner: InvoiceOwner, { key, body }: RequestIdentities): Promise<RepeatedRequests> {
    const earlier = await this.requests.find(
      owner,
      [key, body].filter((identity) => identity !== undefined),
    );
    const sameKey = key && earlier.find(({ requestId }) => requestId === key.requestId);
    const sameBody = body && earlier.find(({ requestId }) => requestId === body.requestId);
    if (sameKey && sameKey.requestFingerprint !== key.requestFingerprint)
      throw new DomainError('request.idempotency-conflict');
    const byKey = sameKey && (await this.invoices.findOwned(owner, sameKey.invoiceId));
    const byBody = sameBody && (await this.invoices.findOwned(owner, sameBody.invoiceId));
    const isExpired = byBody && this.stateOf(byBody) === 'expired';
    const newIdentities = [sameKey ? undefined : key, sameBody && !isExpired ? undefined : body];
    return {
      byKey,
      ...(isExpired ? { expired: byBody } : { byBody }),
      notStored: newIdentities.filter((identity) => identity !== undefined),
    };
  }

  private stateOf(invoice: StoredInvoice): ReturnType<typeof invoiceState> {
    return invoiceState(invoice, this.clock.now());
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
}

/**
 * Whether there is no payable to close. The payable of an expired invoice is still open, and must be closed before the
 * invoice is replaced.
 */
function isMissingOrClosed(invoice: StoredInvoice | undefined): boolean {
  return invoice === undefined || invoice.closedAt !== null;
}

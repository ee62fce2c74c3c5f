import { Body, Controller, Delete, Get, Headers, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CreateInvoiceRequest, type InvoiceResponse, isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { Clock, DomainError, invalidField, isUuid, ownCodeText } from '@svc/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodeDecoderConfig } from '../config.js';
import { acceptedMediaType, sendCode } from '../qr/code-response.js';
import { CloseInvoice } from './close-invoice.js';
import { CreateInvoice } from './create-invoice.js';
import { buildInvoice, invoiceState, type StoredInvoice } from './invoice.js';
import { type InvoiceOwner, InvoiceRepository } from './invoice.repository.js';
import { CallingSite, ForSites } from './require-site.guard.js';

/** The invoice API for tills (D6). `Accept` selects the invoice, the text of its code, or its QR code. */
@Controller('business/api/v1/merchants/:merchantId/sites/:siteId/invoices')
@ForSites()
export class InvoicesController {
  constructor(
    @Inject(CreateInvoice) private readonly createInvoice: CreateInvoice,
    @Inject(CloseInvoice) private readonly closeInvoice: CloseInvoice,
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(CodeDecoderConfig) private readonly config: CodeDecoderConfig,
  ) {}

  /**
   * Creates an invoice, which can be paid and decoded after the response (D6). `Accept` selects whether the response is
   * the invoice, the text of its code or the QR code. Each response has the id of the invoice in the header
   * `reference`. The invoice expires after one hour. Another request with the same `externalReference` replaces the
   * open invoice.
   *
   * @returns 201 The invoice.
   * @returns 200 The response to a repeated request within 72 hours: the invoice in its current state, also if it is
   *   paid or closed, with the header `Idempotency-Replayed`. A request is repeated if it has the same
   *   `Idempotency-Key`, or the same body with an `externalReference`.
   * @produces text/plain Text of the code.
   * @produces image/svg+xml The QR code.
   * @throws payment.in-progress A payment of the invoice to replace is in progress.
   * @throws request.idempotency-conflict
   * @throws payable.expired The invoice of the earlier request with this `Idempotency-Key` has expired.
   * @throws resource.conflict
   * @throws request.not-acceptable
   */
  @Post()
  async create(
    @CallingSite() site: InvoiceOwner,
    @Headers('idempotency-key') idempotencyKey: unknown,
    @Body() body: CreateInvoiceRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InvoiceResponse | string> {
    const mediaType = acceptedMediaType(request);
    const { invoice, isReplayed } = await this.createInvoice.execute(site, body, parseIdempotencyKey(idempotencyKey));
    if (isReplayed) reply.status(200).header('idempotency-replayed', 'true');
    reply.header('reference', invoice.invoiceId);
    return sendCode(reply, mediaType, this.buildResponse(invoice));
  }

  /**
   * Returns an invoice, also if it is closed.
   *
   * @produces text/plain Text of the code.
   * @produces image/svg+xml The QR code.
   * @throws resource.not-found The site has no such invoice.
   * @throws payable.expired
   * @throws request.not-acceptable
   */
  @Get(':reference')
  async get(
    @CallingSite() site: InvoiceOwner,
    @Param('reference') reference: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InvoiceResponse | string> {
    const mediaType = acceptedMediaType(request);
    const invoice = isUuid(reference) ? await this.invoices.findOwned(site, reference) : undefined;
    if (!invoice) throw new DomainError('resource.not-found', { message: 'There is no such invoice.' });
    reply.header('reference', invoice.invoiceId);
    return sendCode(reply, mediaType, this.buildResponse(invoice));
  }

  /**
   * Closes the open invoice with this externalReference, so that it cannot be paid any more.
   *
   * @query externalReference required
   * @throws request.invalid
   * @throws resource.not-found The site has no invoice with this externalReference.
   * @throws payment.in-progress
   */
  @Delete()
  @HttpCode(204)
  async close(
    @CallingSite() site: InvoiceOwner,
    @Query('externalReference') externalReference: unknown,
  ): Promise<void> {
    if (!isText(externalReference, MAX_IDENTIFIER_LENGTH))
      throw invalidField(
        'externalReference',
        `externalReference must be text of 1 to ${MAX_IDENTIFIER_LENGTH} characters`,
      );
    await this.closeInvoice.execute(site, externalReference);
  }

  private buildResponse(invoice: StoredInvoice): InvoiceResponse {
    const state = invoiceState(invoice, this.clock.now());
    if (state === 'expired') throw new DomainError('payable.expired');
    return {
      ...buildInvoice(invoice, state),
      reference: invoice.invoiceId,
      ...(invoice.externalReference === null ? {} : { externalReference: invoice.externalReference }),
      code: ownCodeText(invoice.code, this.config.SVC_CODES_URL),
      expiresUTCDate: invoice.expiresAt.toISOString(),
    };
  }
}

function parseIdempotencyKey(key: unknown): string | undefined {
  if (key === undefined || isText(key, MAX_IDENTIFIER_LENGTH)) return key;
  throw invalidField(
    'Idempotency-Key',
    `The header Idempotency-Key must have 1 to ${MAX_IDENTIFIER_LENGTH} characters`,
  );
}

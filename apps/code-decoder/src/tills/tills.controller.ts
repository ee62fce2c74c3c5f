import { Controller, Get, Inject, Param, Put, Req, Res } from '@nestjs/common';
import { isText, MAX_IDENTIFIER_LENGTH, type TillCodeResponse } from '@svc/contracts';
import { DomainError, invalidField, ownCodeText } from '@svc/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodeDecoderConfig } from '../config.js';
import type { InvoiceOwner } from '../invoices/invoice.repository.js';
import { CallingSite, ForSites } from '../invoices/require-site.guard.js';
import { acceptedMediaType, sendCode } from '../qr/code-response.js';
import { TillCodeRepository } from './till-code.repository.js';

/** The static code of a till, which the merchant prints (D5). `Accept` selects JSON, text, or a QR code. */
@Controller('business/api/v1/merchants/:merchantId/sites/:siteId/tills/:siteReference/code')
@ForSites()
export class TillsController {
  constructor(
    @Inject(TillCodeRepository) private readonly tillCodes: TillCodeRepository,
    @Inject(CodeDecoderConfig) private readonly config: CodeDecoderConfig,
  ) {}

  /**
   * Creates the static code of a till (D5), which the merchant prints. A till has one code, which never changes.
   *
   * @returns 200 The existing code.
   * @returns 201 The new code.
   * @produces text/plain Text of the code.
   * @produces image/svg+xml The QR code.
   * @throws request.not-acceptable
   */
  @Put()
  async ensure(
    @CallingSite() site: InvoiceOwner,
    @Param('siteReference') siteReference: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TillCodeResponse | string> {
    const mediaType = acceptedMediaType(request);
    if (!isText(siteReference, MAX_IDENTIFIER_LENGTH))
      throw invalidField('siteReference', `siteReference must be text of 1 to ${MAX_IDENTIFIER_LENGTH} characters`);
    const { code, isNew } = await this.tillCodes.getOrCreate(site, siteReference);
    reply.status(isNew ? 201 : 200);
    return sendCode(reply, mediaType, this.buildResponse(siteReference, code));
  }

  /**
   * Returns the static code of a till.
   *
   * @produces text/plain Text of the code.
   * @produces image/svg+xml The QR code.
   * @throws resource.not-found The till has no code.
   * @throws request.not-acceptable
   */
  @Get()
  async get(
    @CallingSite() site: InvoiceOwner,
    @Param('siteReference') siteReference: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TillCodeResponse | string> {
    const mediaType = acceptedMediaType(request);
    const code = isText(siteReference, MAX_IDENTIFIER_LENGTH)
      ? await this.tillCodes.find(site, siteReference)
      : undefined;
    if (code === undefined) throw new DomainError('resource.not-found', { message: 'This till has no code.' });
    return sendCode(reply, mediaType, this.buildResponse(siteReference, code));
  }

  private buildResponse(siteReference: string, code: string): TillCodeResponse {
    return { siteReference, code: ownCodeText(code, this.config.SVC_CODES_URL) };
  }
}

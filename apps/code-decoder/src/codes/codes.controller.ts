import { Controller, Get, Header, Inject, Param } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import type { DecodeResponse } from '@svc/contracts';
import { decodeCodeParameter } from '@svc/kernel';
import { DecodeCode } from './decode-code.js';

/** Decodes QR codes, for partners and their customers. */
@Controller('v1/codes')
@ForPartners('codes:read')
export class CodesController {
  constructor(@Inject(DecodeCode) private readonly decodeCode: DecodeCode) {}

  /**
   * Decodes a QR code into its merchant and invoice (D1, D3). The code is the rest of the path. It may contain slashes,
   * because a slash is a character of base64.
   *
   * @returns 200 The merchant, and the current state of the invoice, which may be `closed`.
   * @throws request.invalid The code is not base64 of text, or exceeds 2 KiB.
   * @throws payable.not-found The code has a supported format, but it belongs to no invoice (D3).
   * @throws payable.expired The invoice has expired.
   * @throws code.unsupported The code has no supported format, and no provider recognises it.
   * @throws code-provider.unavailable
   */
  @Get('*')
  @Header('cache-control', 'no-store')
  decode(@Partner() partner: AuthenticatedPartner, @Param('*') code: string): Promise<DecodeResponse> {
    return this.decodeCode.execute(partner.mode, decodeCodeParameter(code));
  }
}

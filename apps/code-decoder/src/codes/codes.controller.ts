import { Controller, Get, Header, Inject, Param } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import type { DecodeResponse } from '@svc/contracts';
import { codeOfParameter } from '@svc/kernel';
import { DecodeCode } from './decode-code.js';

/** The Decode part of the specification, for partners and their customers. */
@Controller('v1/codes')
@ForPartners('codes:read')
export class CodesController {
  constructor(@Inject(DecodeCode) private readonly decodeCode: DecodeCode) {}

  /** The rest of the path, slashes included: base64 has them (D1). */
  @Get('*')
  @Header('cache-control', 'no-store')
  decode(@Partner() partner: AuthenticatedPartner, @Param('*') code: string): Promise<DecodeResponse> {
    return this.decodeCode.execute(partner.mode, codeOfParameter(code));
  }
}

import { Body, Controller, Header, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { CallingPartnerKey, type PartnerKey, PartnerKeyGuard } from '@svc/auth';
import { type ServiceLoginAnswer, ServiceLoginRequest } from '@svc/contracts';
import { LogInService } from './log-in-service.js';

/** Login of a partner's server (A1). Needs the partner's `x-api-key`; errors are RFC 9457 (C5). */
@Controller('v1/auth/service')
@UseGuards(PartnerKeyGuard)
export class ServiceLoginController {
  constructor(@Inject(LogInService) private readonly logInService: LogInService) {}

  /**
   * Logs a partner's server in: an identity token for 15 minutes (A1, A2).
   *
   * @returns 200 The identity token; send it as `Authorization: Bearer`.
   * @throws credentials.invalid Wrong key, organisationId or API token, or they belong to different partners.
   */
  @Post('login')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  logIn(@CallingPartnerKey() key: PartnerKey, @Body() request: ServiceLoginRequest): Promise<ServiceLoginAnswer> {
    return this.logInService.execute(key, request);
  }
}

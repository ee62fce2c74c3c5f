import { Body, Controller, Header, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { CallingPartnerKey, type PartnerKey, PartnerKeyGuard } from '@svc/auth';
import { type ServiceLoginAnswer, ServiceLoginRequest } from '@svc/contracts';
import { LogInService } from './log-in-service.js';

/** Login of a partner's server (A1). Requires the partner's `x-api-key`. Errors are RFC 9457 (C5). */
@Controller('v1/auth/service')
@UseGuards(PartnerKeyGuard)
export class ServiceLoginController {
  constructor(@Inject(LogInService) private readonly logInService: LogInService) {}

  /**
   * Logs a partner's server in. The response contains an identity token that is valid for 15 minutes (A1, A2).
   *
   * @returns 200 The identity token. Send it as `Authorization: Bearer`.
   * @throws credentials.invalid The API key, the organisationId or the API token is wrong, or they belong to different
   *   partners or modes.
   */
  @Post('login')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  logIn(@CallingPartnerKey() key: PartnerKey, @Body() request: ServiceLoginRequest): Promise<ServiceLoginAnswer> {
    return this.logInService.execute(key, request);
  }
}

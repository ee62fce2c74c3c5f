import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { TransformerSettings } from '../settings.js';
import { isCallerAllowed } from './access.js';

/**
 * Refuses callers that have neither an allowed address nor the API key (A9). Runs before the request is validated (C5).
 *
 * @throws credentials.invalid
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(@Inject(TransformerSettings) private readonly settings: TransformerSettings) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers, ip } = context.switchToHttp().getRequest<FastifyRequest>();
    const apiKey = headers['x-api-key'];
    const fetchSite = headers['sec-fetch-site'];
    const caller = {
      address: ip,
      host: headers.host,
      origin: headers.origin,
      fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
      apiKey: typeof apiKey === 'string' ? apiKey : undefined,
    };
    if (!isCallerAllowed(this.settings, caller)) throw new DomainError('credentials.invalid');
    return true;
  }
}

import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { TransformerSettings } from '../settings.js';
import { mayCall } from './access.js';

/**
 * Refuses callers that are neither on the list nor have the key (A9), before anything of the request is looked at (C5).
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
    if (!mayCall(this.settings, caller)) throw new DomainError('credentials.invalid');
    return true;
  }
}

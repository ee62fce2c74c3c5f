import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';

/** Rejects requests that a page of another origin sent. Browsers report this in the header Sec-Fetch-Site. */
@Injectable()
export class SameOriginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const fetchSite = context.switchToHttp().getRequest<FastifyRequest>().headers['sec-fetch-site'];
    if (fetchSite !== undefined && fetchSite !== 'same-origin') throw new DomainError('credentials.forbidden');
    return true;
  }
}

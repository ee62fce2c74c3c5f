import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';

/** Rejects requests from the pages of other sites, by the header Sec-Fetch-Site that browsers send. */
@Injectable()
export class SameOriginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const from = context.switchToHttp().getRequest<FastifyRequest>().headers['sec-fetch-site'];
    if (from !== undefined && from !== 'same-origin') throw new DomainError('credentials.forbidden');
    return true;
  }
}

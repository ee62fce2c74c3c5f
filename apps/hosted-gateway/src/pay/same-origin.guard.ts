import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';

/** Only our own page presses Pay: a browser says where a request comes from, and another site's is refused. */
@Injectable()
export class SameOrigin implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const from = context.switchToHttp().getRequest<FastifyRequest>().headers['sec-fetch-site'];
    if (from !== undefined && from !== 'same-origin') throw new DomainError('credentials.forbidden');
    return true;
  }
}

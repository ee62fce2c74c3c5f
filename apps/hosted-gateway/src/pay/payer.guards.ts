import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
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

/** Bounds how often one address may press Pay. */
@Injectable()
export class PayerLimit extends ThrottlerGuard {
  protected override getTracker(request: FastifyRequest): Promise<string> {
    return Promise.resolve(request.ip);
  }

  protected override throwThrottlingException(
    _: ExecutionContext,
    { timeToExpire }: ThrottlerLimitDetail,
  ): Promise<void> {
    throw new DomainError('request.rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(timeToExpire)) });
  }
}

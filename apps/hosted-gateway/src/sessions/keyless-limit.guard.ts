import { type ExecutionContext, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { siteOf } from './site.guard.js';

/** Bounds how often one address may call for a site that needs no key (A8). Runs after SiteGuard. */
@Injectable()
export class KeylessLimit extends ThrottlerGuard {
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(!siteOf(context).keyless);
  }

  protected override getTracker(request: FastifyRequest): Promise<string> {
    return Promise.resolve(request.ip);
  }

  /** One count for all calls of an address: the library's own key counts each controller method by itself. */
  protected override generateKey(_: ExecutionContext, tracker: string, name: string): string {
    return `${name} ${tracker}`;
  }

  protected override throwThrottlingException(
    _: ExecutionContext,
    { timeToExpire }: ThrottlerLimitDetail,
  ): Promise<void> {
    throw new DomainError('request.rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(timeToExpire)) });
  }
}

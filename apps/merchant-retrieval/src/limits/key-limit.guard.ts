import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { getAuthenticatedMerchant } from '@svc/auth';
import { DomainError } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { KeyLimit } from './key-limit.js';

/**
 * Limits the call rate of a key (M4). A rejected call gets a 429 with `Retry-After`. Every response has the headers of
 * the IETF draft "RateLimit header fields for HTTP". Use this guard after MerchantKeyGuard, because MerchantKeyGuard
 * authenticates the key.
 *
 * @throws request.rate-limited More than 5 calls a second of one key after a burst of 20, unless configured otherwise (M4).
 */
@Injectable()
export class KeyLimitGuard implements CanActivate {
  constructor(@Inject(KeyLimit) private readonly limit: KeyLimit) {}

  canActivate(context: ExecutionContext): boolean {
    const { isAllowed, remaining, retryAfterSeconds, resetSeconds } = this.limit.tryConsume(
      getAuthenticatedMerchant(context).keyId,
    );
    context
      .switchToHttp()
      .getResponse<FastifyReply>()
      .header('ratelimit-policy', this.limit.policy)
      .header('ratelimit', `"key";r=${remaining};t=${resetSeconds}`);
    if (!isAllowed) throw new DomainError('request.rate-limited', { retryAfterSeconds });
    return true;
  }
}

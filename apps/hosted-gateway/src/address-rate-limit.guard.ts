import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import { DomainError } from '@svc/kernel';

/** Rate limit for each IP address (IPv6: each /64 network). Applies the throttlers that the route does not skip. */
@Injectable()
export class AddressRateLimitGuard extends ThrottlerGuard {
  /** One counter for each address. The library's default key would count each controller method separately. */
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

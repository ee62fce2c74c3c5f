import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import { DomainError } from '@svc/kernel';

/** Rate limit by IP address (for IPv6, by /64 network). Applies the throttlers that the route does not skip. */
@Injectable()
export class AddressRateLimitGuard extends ThrottlerGuard {
  /** Uses one counter for each IP address. The default of the library counts each controller method separately. */
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

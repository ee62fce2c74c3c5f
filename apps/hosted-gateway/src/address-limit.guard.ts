import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import { DomainError } from '@svc/kernel';

/** Bounds how often one address (of IPv6: one network of 64 bits) may call, by the limits that the route does not skip. */
@Injectable()
export class AddressLimit extends ThrottlerGuard {
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

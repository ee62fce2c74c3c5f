import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import { DomainError } from '@svc/kernel';

/** The names of the throttlers, whose limits are in app.module.ts. */
export type ThrottlerName = 'keyless' | 'payments' | 'deliveries' | 'reports';

/**
 * Applies one throttler to the routes of a guard. By default the limit is for each IP address (for IPv6, for each /64
 * network).
 */
@Injectable()
export abstract class RateLimitGuard extends ThrottlerGuard {
  protected abstract readonly throttlerName: ThrottlerName;

  /** The library applies all throttlers to each route. */
  override async onModuleInit(): Promise<void> {
    await super.onModuleInit();
    this.throttlers = this.throttlers.filter(({ name }) => name === this.throttlerName);
  }

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

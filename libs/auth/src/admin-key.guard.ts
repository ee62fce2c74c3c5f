import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type CanActivate,
  type ExecutionContext,
  type FactoryProvider,
  Inject,
  Injectable,
  type Type,
} from '@nestjs/common';
import { DomainError } from '@svc/kernel';

/** Injection token of the administration key of this service (a secret of the environment). */
export const ADMIN_KEY = Symbol('AdminKey');

/** Provides ADMIN_KEY from the variable SVC_ADMIN_KEY of a service's configuration. */
export function adminKeyFrom<C extends { readonly SVC_ADMIN_KEY: string }>(config: Type<C>): FactoryProvider<string> {
  return { provide: ADMIN_KEY, inject: [config], useFactory: ({ SVC_ADMIN_KEY }: C) => SVC_ADMIN_KEY };
}

/**
 * Admits administrators: header `x-admin-key` (A10). Never a partner's or merchant's key.
 *
 * @throws credentials.invalid
 */
@Injectable()
export class AdminKeyGuard implements CanActivate {
  private readonly expected: Buffer;

  constructor(@Inject(ADMIN_KEY) adminKey: string) {
    this.expected = digest(adminKey);
  }

  canActivate(context: ExecutionContext): boolean {
    const given = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>().headers['x-admin-key'];
    if (typeof given !== 'string' || !timingSafeEqual(digest(given), this.expected))
      throw new DomainError('credentials.invalid');
    return true;
  }
}

/** The author of a change: an id that distinguishes administration keys, and grants no access. */
export function adminActorOf(adminKey: string): string {
  return `admin:${digest(adminKey).toString('hex').slice(0, 16)}`;
}

/** Hashed first, so that the comparison takes the same time for texts of any length. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

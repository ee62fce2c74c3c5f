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
import { readOperator } from './console-operator.js';

/** Injection token of the administration key of this service (a secret of the environment). */
export const ADMIN_KEY = Symbol('AdminKey');

/** Provides ADMIN_KEY from the variable SVC_ADMIN_KEY of a service's configuration. */
export function provideAdminKey<C extends { readonly SVC_ADMIN_KEY: string }>(
  config: Type<C>,
): FactoryProvider<string> {
  return { provide: ADMIN_KEY, inject: [config], useFactory: ({ SVC_ADMIN_KEY }: C) => SVC_ADMIN_KEY };
}

/**
 * Admits a request whose header `x-admin-key` contains the administration key (A10), and the requests of operators in the
 * console. Keys of partners and merchants are rejected.
 *
 * @throws credentials.invalid
 * @throws credentials.forbidden an operator who may only read changes something
 */
@Injectable()
export class AdminKeyGuard implements CanActivate {
  private readonly expectedDigest: Buffer;

  constructor(@Inject(ADMIN_KEY) expectedKey: string) {
    this.expectedDigest = digest(expectedKey);
  }

  canActivate(context: ExecutionContext): boolean {
    const { headers, method } = context
      .switchToHttp()
      .getRequest<{ headers: Record<string, unknown>; method: string }>();
    const operator = readOperator(headers);
    if (operator) {
      if (!operator.mayChange && method !== 'GET') throw new DomainError('credentials.forbidden');
      return true;
    }
    const adminKey = headers['x-admin-key'];
    if (typeof adminKey !== 'string' || !timingSafeEqual(digest(adminKey), this.expectedDigest))
      throw new DomainError('credentials.invalid');
    return true;
  }
}

/**
 * The author of a change in the audit log: an id derived from the administration key. The id itself grants no access.
 */
export function adminActorId(adminKey: string): string {
  return `admin:${digest(adminKey).toString('hex').slice(0, 16)}`;
}

/** Keys are compared by their hashes, so that the comparison takes the same time for keys of any length. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

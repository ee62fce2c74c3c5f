import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type CanActivate,
  type ExecutionContext,
  type FactoryProvider,
  Inject,
  Injectable,
  type Type,
} from '@nestjs/common';
import { canOperate } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { readOperator } from './console-operator.js';
import { OperatorKeys } from './operators/operator-keys.js';

/** Injection token of the {@link SharedAdminKey} of this service. */
export const ADMIN_KEY = Symbol('AdminKey');

/**
 * The administration key that all administrators share, a secret of the environment. It is for the time before the first
 * key of a person with the role operator exists; then it is refused.
 */
export interface SharedAdminKey {
  readonly key: string;
  /** Until this time the key is accepted again, because all operators are lost. In identity only. */
  readonly recoveryUntil?: Date | undefined;
}

interface AdminKeyConfig {
  readonly SVC_ADMIN_KEY: string;
  readonly SVC_ADMIN_KEY_RECOVERY_UNTIL?: string;
}

/** Provides ADMIN_KEY from the variable SVC_ADMIN_KEY of a service's configuration. */
export function provideAdminKey<C extends AdminKeyConfig>(config: Type<C>): FactoryProvider<SharedAdminKey> {
  return {
    provide: ADMIN_KEY,
    inject: [config],
    useFactory: ({ SVC_ADMIN_KEY: key, SVC_ADMIN_KEY_RECOVERY_UNTIL: until }: C) => ({
      key,
      ...(until === undefined ? {} : { recoveryUntil: new Date(until) }),
    }),
  };
}

/** A recovery is accepted for this long at most, so that a forgotten setting does not bring the shared key back. */
const MAX_RECOVERY_MS = 24 * 60 * 60_000;

interface AdministrationRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Author of the change, for the audit log. */
  administrator?: string;
}

/**
 * Admits a request whose header `x-admin-key` contains the key of an operator, or the shared administration key before the
 * first operator (A10), and the requests of operators in the console. A viewer may send GET requests only. Keys of partners and
 * merchants are rejected.
 *
 * A service that uses this guard imports {@link OperatorKeysModule} with its migration, and provides ADMIN_KEY.
 *
 * @throws credentials.invalid
 * @throws credentials.forbidden The operator is a viewer.
 * @throws credentials.shared-key-ended
 */
@Injectable()
export class AdminKeyGuard implements CanActivate {
  private readonly expectedDigest: Buffer;

  constructor(
    @Inject(ADMIN_KEY) private readonly shared: SharedAdminKey,
    @Inject(OperatorKeys) private readonly operatorKeys: OperatorKeys,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.expectedDigest = digest(shared.key);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AdministrationRequest>();
    const operator = readOperator(request.headers);
    if (operator) {
      if (!operator.mayChange && request.method !== 'GET') throw new DomainError('credentials.forbidden');
      request.administrator = operatorActorId(operator.personId);
      return true;
    }
    const adminKey = request.headers['x-admin-key'];
    if (typeof adminKey !== 'string') throw new DomainError('credentials.invalid');
    request.administrator = timingSafeEqual(digest(adminKey), this.expectedDigest)
      ? await this.admitSharedKey(adminKey)
      : await this.admitOperator(adminKey, request.method);
    return true;
  }

  private async admitSharedKey(adminKey: string): Promise<string> {
    if (!this.isRecovering() && (await this.operatorKeys.hasEndedSharedKey()))
      throw new DomainError('credentials.shared-key-ended');
    return adminActorId(adminKey);
  }

  private async admitOperator(adminKey: string, method: string): Promise<string> {
    const key = await this.operatorKeys.find(adminKey);
    if (!key)
      throw new DomainError('credentials.invalid', { message: 'The key is not known, was revoked or has expired.' });
    if (!canOperate(key.role, method === 'GET' || method === 'HEAD' ? 'view' : 'change'))
      throw new DomainError('credentials.forbidden', { message: 'The key is of a viewer, who changes nothing.' });
    return operatorActorId(key.personId);
  }

  private isRecovering(): boolean {
    const { recoveryUntil } = this.shared;
    if (recoveryUntil === undefined) return false;
    const remainingMs = recoveryUntil.getTime() - this.clock.now().getTime();
    return remainingMs > 0 && remainingMs <= MAX_RECOVERY_MS;
  }
}

/** The author of the request in the audit log, as {@link AdminKeyGuard} has found it. */
export function getAdministrator(context: ExecutionContext): string {
  const { administrator } = context.switchToHttp().getRequest<AdministrationRequest>();
  if (administrator === undefined) throw new Error('AdminKeyGuard has not run.');
  return administrator;
}

/**
 * The author of a change with the shared key in the audit log: an id derived from the key. The id itself grants no access.
 */
export function adminActorId(adminKey: string): string {
  return `admin:${digest(adminKey).toString('hex').slice(0, 16)}`;
}

/** The author of a change with the key of an operator in the audit log. */
export function operatorActorId(personId: string): string {
  return `operator:${personId}`;
}

/** Keys are compared by their hashes, so that the comparison takes the same time for keys of any length. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

import { randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext, type FactoryProvider } from '@nestjs/common';
import type { Administered, EventType } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import type { Transaction } from '@svc/persistence';
import { getAdministrator } from './admin-key.guard.js';
import { readOperator } from './console-operator.js';

/** The author and the request of a change, for the audit log (A10). */
export interface ChangeAuthor {
  /**
   * `operator:` and the id of the operator whose key was sent; `admin:` and the beginning of the SHA-256 of the shared
   * administration key, which identifies the key and is not a secret; `person:` and the id of a person in the console; or
   * `schedule` for the end of a replaced credential.
   */
  readonly actor: string;
  /** `x-request-id` of the response (C8), for an operator in the console of the console's response. */
  readonly requestId: string;
}

/** A person of a merchant as the author of a change. */
export function personAuthor(personId: string, requestId: string): ChangeAuthor {
  return { actor: `person:${personId}`, requestId };
}

/**
 * Parameter decorator: the {@link ChangeAuthor} of the request. Use it only with AdminKeyGuard, which checks the
 * key.
 */
export const Author = createParamDecorator((_: unknown, context: ExecutionContext): ChangeAuthor => {
  const { id, headers } = context.switchToHttp().getRequest<{ id: string; headers: Record<string, unknown> }>();
  return { actor: getAdministrator(context), requestId: readOperator(headers)?.requestId ?? id };
});

/** An action of an administrator, without its author. It never contains a secret. */
type AuditedAction = Readonly<Omit<Administered, keyof ChangeAuthor>>;

/**
 * The way of a service to identity's audit log (A10). Each administration endpoint that changes or sends something
 * appends one action, in the transaction of the change: neither is committed without the other. A rejected request, and
 * a request that changes nothing, append none.
 */
export abstract class AuditTrail {
  /**
   * Call this method at the end of the transaction: in identity it acquires a lock that all appending transactions share,
   * so that the entries have the order of their commits.
   */
  abstract append(tx: Transaction, author: ChangeAuthor, action: AuditedAction): Promise<void>;
}

/** Appends the actions of a service to its event log. identity consumes the events of each service's type. */
export function provideAuditTrail(type: EventType<Administered>): FactoryProvider<AuditTrail> {
  return {
    provide: AuditTrail,
    inject: [EventLog],
    useFactory: (events: EventLog): AuditTrail => ({
      append: (tx, author, action) =>
        events.append(tx, {
          type,
          aggregateId: randomUUID(),
          aggregateVersion: 1,
          payload: { ...action, ...author },
        }),
    }),
  };
}

import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { adminActorOf } from '@svc/auth';

/** Who made a change, and in which request: for the audit log (A10). */
export interface ChangeAuthor {
  /** `admin:` and the beginning of the SHA-256 of the administration key: tells keys apart, opens nothing. */
  readonly actor: string;
  /** The answer's `x-request-id` (C8). */
  readonly requestId: string;
}

/** Parameter decorator. Only behind AdminKeyGuard, which has checked the header by then. */
export const Author = createParamDecorator((_: unknown, context: ExecutionContext): ChangeAuthor => {
  const request = context.switchToHttp().getRequest<{ id: string; headers: Record<string, unknown> }>();
  return { actor: adminActorOf(String(request.headers['x-admin-key'])), requestId: request.id };
});

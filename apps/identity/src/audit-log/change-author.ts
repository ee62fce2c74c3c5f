import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { adminActorId } from '@svc/auth';

/** The author and the request of a change, for the audit log (A10). */
export interface ChangeAuthor {
  /** `admin:` and the beginning of the SHA-256 of the administration key. It identifies the key and is not a secret. */
  readonly actor: string;
  /** `x-request-id` of the response (C8). */
  readonly requestId: string;
}

/**
 * Parameter decorator: the {@link ChangeAuthor} of the request. Use it only with AdminKeyGuard, which checks the
 * administration key.
 */
export const Author = createParamDecorator((_: unknown, context: ExecutionContext): ChangeAuthor => {
  const request = context.switchToHttp().getRequest<{ id: string; headers: Record<string, unknown> }>();
  return { actor: adminActorId(String(request.headers['x-admin-key'])), requestId: request.id };
});

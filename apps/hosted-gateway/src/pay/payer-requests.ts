/** What all requests of payers have in common: the address of the page, and the rate limit. */
import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { isUuid } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { RateLimitGuard } from '../rate-limit.guard.js';
import type { PayerAddress } from '../sessions/payer-address.js';

/** The page of a till's static code for one invoice. */
export const STATIC_CODE_PAGE = 'c/:code/invoices/:invoiceReference';

/**
 * Parameter decorator: the address of the page. A request with a session id, or the code of a session or invoice, needs
 * no other authorisation.
 */
export const PageAddress = createParamDecorator((_: unknown, context: ExecutionContext): PayerAddress => {
  const { params, query } = context.switchToHttp().getRequest<
    FastifyRequest<{
      Params: { sessionId?: string; code?: string; invoiceReference?: string };
      Querystring: { sessionId?: unknown };
    }>
  >();
  const { code, invoiceReference } = params;
  if (code !== undefined) return invoiceReference === undefined ? { code } : { code, invoiceReference };
  const sessionId = params.sessionId ?? query.sessionId;
  return { sessionId: isUuid(sessionId) ? sessionId : '' };
});

/** Rate limit by IP address, for the requests of payers that change something. */
@Injectable()
export class PaymentsRateLimitGuard extends RateLimitGuard {
  protected readonly throttlerName = 'payments';
}

import type { HostedErrorResponse, ResponseStatusText } from '@svc/contracts';
import type { DomainError } from '@svc/kernel';
import type { ErrorBody } from '@svc/service';
import type { FastifyRequest } from 'fastify';
import { BuiltParts } from './pay/page-parts.js';
import { languageWishOf, pageAnswer } from './pay/page/send-answer.js';
import { chooseLanguage } from './languages/languages.js';

/** Errors of the hosted gateway: `{status, errors: [{message}]}` (H1, C5); a page where a payer's browser asked for one. */
export const gatewayErrorBody: ErrorBody = (error, request) => {
  const { httpStatus } = error.entry;
  if (isPageRequest(request) && (httpStatus === 404 || httpStatus >= 500))
    return pageAnswer({ state: httpStatus === 404 ? 'not-found' : 'unavailable' }, BuiltParts.get(), request);
  const refusal = isPressOfPay(request) ? refusalText(error, request) : undefined;
  const fields = error.fields.map(({ message }) => message);
  const messages = refusal !== undefined ? [refusal] : fields.length > 0 ? fields : [error.message];
  const body: HostedErrorResponse = {
    status: statusOf(httpStatus),
    errors: messages.map((message) => ({ message })),
  };
  return { contentType: 'application/json', body };
};

/** Of the payer's page, at either of its addresses or near them; not of a file or a call of its script. */
function isPageRequest({ method, headers, url }: FastifyRequest): boolean {
  const path = url.split('?', 1)[0] ?? '';
  return method === 'GET' && headers.accept?.includes('text/html') === true && /^\/((pay|c)(\/[^/]*)?)?$/.test(path);
}

/** By the page's script, which shows the payer what is answered. */
function isPressOfPay({ method, url }: FastifyRequest): boolean {
  return method === 'POST' && /^\/(pay|c)\/[^/]*\/payments(\?|$)/.test(url);
}

/** In the page's language; undefined where the error catalogue's English is. */
function refusalText({ code }: DomainError, request: FastifyRequest): string | undefined {
  const { tag, messages } = chooseLanguage(languageWishOf(request));
  const { refusals, formErrors } = messages;
  if (Object.hasOwn(refusals, code)) return refusals[code as keyof typeof refusals];
  return tag === 'en' ? undefined : formErrors.refused;
}

function statusOf(httpStatus: number): ResponseStatusText {
  if (httpStatus === 401) return 'Unauthorized';
  if (httpStatus === 404) return 'NotFound';
  return httpStatus >= 500 ? 'InternalServer' : 'BadRequest';
}

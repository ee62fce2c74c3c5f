import type { HostedErrorResponse, ResponseStatusText } from '@svc/contracts';
import type { DomainError } from '@svc/kernel';
import { type ErrorBody, prefersToJson, problemBody } from '@svc/service';
import type { FastifyRequest } from 'fastify';
import { chooseLanguage } from './languages/languages.js';
import { BuiltManifest } from './pay/built-manifest.js';
import { buildPageResponse, readLanguagePreference } from './pay/page/send-page.js';

/**
 * Error response of the hosted gateway: `{status, errors: [{message}]}` (H1, C5), or an HTML page if a payer's browser
 * requested a page.
 */
export const gatewayErrorBody: ErrorBody = (error, request, errorPage) => {
  // The administration API has the same errors at every service.
  if (request.url.startsWith('/admin/')) return problemBody(error, request, errorPage);
  const { httpStatus } = error.entry;
  if (isPageRequest(request) && (httpStatus === 404 || httpStatus >= 500))
    return buildPageResponse({ state: httpStatus === 404 ? 'not-found' : 'unavailable' }, BuiltManifest.get(), request);
  const translation = isPayRequest(request) ? findTranslatedMessage(error, request) : undefined;
  const fields = error.fields.map(({ message }) => message);
  const messages = translation !== undefined ? [translation] : fields.length > 0 ? fields : [error.message];
  const body: HostedErrorResponse = {
    status: buildStatusText(httpStatus),
    errors: messages.map((message) => ({ message })),
  };
  return { contentType: 'application/json', body };
};

/** Page of a till's static code for one invoice. */
const STATIC_CODE_PAGE = String.raw`c/[^/]*/invoices/[^/]*`;
const PAGE_PATH = new RegExp(`^/(pay(/[^/]*)?|[cC](/[^/]*)?|${STATIC_CODE_PAGE})?$`);
/** The form of a receipt, which the browser sends without the script. */
const RECEIPT_PATH = new RegExp(`^/(pay/[^/]*|c/[^/]*|${STATIC_CODE_PAGE})/receipts$`);
const PAY_URL = new RegExp(`^/(pay/[^/]*|c/[^/]*|${STATIC_CODE_PAGE})/payments(\\?|$)`);

/** True for a request whose response the browser shows, also with a mistyped address. False for a call of the page's script. */
function isPageRequest({ method, headers, url }: FastifyRequest): boolean {
  const path = url.split('?', 1)[0] ?? '';
  const isPage = method === 'GET' ? PAGE_PATH.test(path) : method === 'POST' && RECEIPT_PATH.test(path);
  return isPage && prefersToJson('text/html', headers.accept);
}

/** True for a pay request of the page's script. The script shows the error message to the payer. */
function isPayRequest({ method, url }: FastifyRequest): boolean {
  return method === 'POST' && PAY_URL.test(url);
}

/** The error text in the page's language. If undefined, the response contains the English text of the error catalogue. */
function findTranslatedMessage({ code }: DomainError, request: FastifyRequest): string | undefined {
  const { tag, messages } = chooseLanguage(readLanguagePreference(request));
  const { refusals, formErrors } = messages;
  // Too many requests or too many payments in flight, of the payer's network.
  if (code === 'request.rate-limited') return formErrors.tooMany;
  if (Object.hasOwn(refusals, code)) return refusals[code as keyof typeof refusals];
  return tag === 'en' ? undefined : formErrors.refused;
}

function buildStatusText(httpStatus: number): ResponseStatusText {
  if (httpStatus === 401) return 'Unauthorized';
  if (httpStatus === 404) return 'NotFound';
  return httpStatus >= 500 ? 'InternalServer' : 'BadRequest';
}

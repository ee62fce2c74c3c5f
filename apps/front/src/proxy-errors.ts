import { ERROR_CATALOGUE, type Host } from '@svc/contracts';
import { createProxyErrorResponse, NOT_FOUND, type ProxyError } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';

const TOO_LARGE: ProxyError = { status: 413, code: 'request.too-large', message: 'The request is too large.' };
/** The front could not send the request to the app, so the client may safely retry it. */
const UNAVAILABLE: ProxyError = {
  status: 503,
  code: 'service.not-ready',
  message: 'The service is being restarted. Try again in a moment.',
  retryAfterSeconds: 1,
};
/** The app may have executed the request before the connection was lost. */
const CONNECTION_LOST: ProxyError = {
  status: 502,
  code: 'service.broken-off',
  message: ERROR_CATALOGUE['service.broken-off'].message,
};
const TIMED_OUT_ERROR: ProxyError = {
  status: 504,
  code: 'service.timed-out',
  message: ERROR_CATALOGUE['service.timed-out'].message,
};

/** Codes of errors before the front could send the request: the connection was refused or could not be established. */
const NOT_SENT_CODES = new Set([
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Whether the error occurred before the front sent the request to the app. */
export function wasNeverSent(error: unknown): boolean {
  return collectErrorCodes(error).some((code) => NOT_SENT_CODES.has(code));
}

/** The error that the client gets for an error of the HTTP library. */
export function classifyProxyError(error: unknown): ProxyError {
  const { statusCode } = error as { statusCode?: unknown };
  if (statusCode === 413) return TOO_LARGE;
  // The HTTP library could not parse the address of the request, or could not send it.
  if (statusCode === 400 || collectErrorCodes(error).includes('UND_ERR_INVALID_ARG')) return NOT_FOUND;
  if (wasNeverSent(error)) return UNAVAILABLE;
  return collectErrorCodes(error).some((code) => TIMEOUT_CODES.has(code)) ? TIMED_OUT_ERROR : CONNECTION_LOST;
}

/** Codes of an error, of its causes and of the errors that it aggregates. */
function collectErrorCodes(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  const causes: unknown[] = [cause, ...(Array.isArray(errors) ? (errors as unknown[]) : [])];
  return [
    ...(typeof code === 'string' ? [code] : []),
    ...causes.flatMap((nested) => collectErrorCodes(nested, depth + 1)),
  ];
}

/** Sends the error in the format of the host. */
export function sendProxyError(
  { host, errorPages }: { readonly host: Host; readonly errorPages?: string | undefined },
  request: FastifyRequest,
  reply: FastifyReply,
  proxyError: ProxyError,
): FastifyReply {
  const { status, headers, body } = createProxyErrorResponse(
    { host, accept: request.headers.accept, errorPages },
    proxyError,
  );
  return reply.status(status).headers(headers).send(body);
}

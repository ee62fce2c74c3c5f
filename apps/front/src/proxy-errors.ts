import { ERROR_CATALOGUE, type Host } from '@svc/contracts';
import { NOT_FOUND, type ProxyError, writeProxyError } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';

const TOO_LARGE: ProxyError = { status: 413, code: 'request.too-large', message: 'The request is too large.' };
/** Nothing was sent to the app: repeating is safe. */
const UNAVAILABLE: ProxyError = {
  status: 503,
  code: 'service.not-ready',
  message: 'The service is being restarted. Try again in a moment.',
  retryAfterSeconds: 1,
};
/** The app may have executed the request before it went. */
const BROKEN_OFF: ProxyError = {
  status: 502,
  code: 'service.broken-off',
  message: ERROR_CATALOGUE['service.broken-off'].message,
};
const TOO_SLOW: ProxyError = {
  status: 504,
  code: 'service.timed-out',
  message: ERROR_CATALOGUE['service.timed-out'].message,
};

/** Nobody listens, or nobody could be reached: the request has not left the front. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const TIMED_OUT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

export function wasNeverSent(error: unknown): boolean {
  return codesOf(error).some((code) => NEVER_SENT.has(code));
}

export function proxyErrorOf(error: unknown): ProxyError {
  const { statusCode } = error as { statusCode?: unknown };
  if (statusCode === 413) return TOO_LARGE;
  // The library would not read the address, or the client would not write it.
  if (statusCode === 400 || codesOf(error).includes('UND_ERR_INVALID_ARG')) return NOT_FOUND;
  if (wasNeverSent(error)) return UNAVAILABLE;
  return codesOf(error).some((code) => TIMED_OUT.has(code)) ? TOO_SLOW : BROKEN_OFF;
}

/** Codes of an error, of what caused it and of what it gathers. */
function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  const causes: unknown[] = [cause, ...(Array.isArray(errors) ? (errors as unknown[]) : [])];
  return [...(typeof code === 'string' ? [code] : []), ...causes.flatMap((each) => codesOf(each, depth + 1))];
}

/** {@link writeProxyError}, sent. */
export function sendProxyError(
  { host, errorPages }: { readonly host: Host; readonly errorPages?: string | undefined },
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ProxyError,
): FastifyReply {
  const { status, headers, body } = writeProxyError({ host, accept: request.headers.accept, errorPages }, answer);
  return reply.status(status).headers(headers).send(body);
}

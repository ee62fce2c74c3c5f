import { randomUUID } from 'node:crypto';
import { appFor, ERROR_CATALOGUE, type ErrorCode, type Host } from '@svc/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What the front answers itself: nobody is named for the address, or the app that is does not answer. */
export interface OwnAnswer {
  readonly status: 404 | 413 | 502 | 503 | 504;
  /** Of the error catalogue. */
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export const NOT_FOUND: OwnAnswer = { status: 404, code: 'resource.not-found', message: 'Nothing was found here.' };
const TOO_LARGE: OwnAnswer = { status: 413, code: 'request.too-large', message: 'The request is too large.' };
/** Nothing was sent to the app: repeating is safe. */
const UNAVAILABLE: OwnAnswer = {
  status: 503,
  code: 'service.not-ready',
  message: 'The service is being restarted. Try again in a moment.',
  retryAfterSeconds: 1,
};
/** The app may have executed the request before it went. */
const BROKEN_OFF: OwnAnswer = {
  status: 502,
  code: 'service.broken-off',
  message: ERROR_CATALOGUE['service.broken-off'].message,
  retryAfterSeconds: 1,
};
const TOO_SLOW: OwnAnswer = {
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

export function answerTo(error: unknown): OwnAnswer {
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

/**
 * Whether the address may be forwarded, and to whom. The table is asked with the path as it was sent; a path that
 * would be another one for whoever parses it (`/pay/../admin`, `/pay\admin`) is nobody's, or the table would say yes
 * to one path and the app be asked for another.
 */
export function appForAddress(host: Host, address: string, method = 'GET'): string | undefined {
  const path = address.split('?', 1)[0] ?? '';
  if (!path.startsWith('/') || path.startsWith('//')) return undefined;
  const parsed = URL.parse(path, 'http://front');
  if (parsed?.pathname !== path || parsed.host !== 'front' || !isEncoded(path)) return undefined;
  return appFor(host, path, method);
}

function isEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** In the form that callers of this host know: C5 and H1, or a sentence for a person's browser. */
export function answerItself(
  host: Host,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: OwnAnswer,
): FastifyReply {
  const { status, code, message, retryAfterSeconds } = answer;
  const requestId = randomUUID();
  reply.status(status).header('x-request-id', requestId).header('cache-control', 'no-store');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  if (request.headers.accept?.includes('text/html') && status >= 500) return reply.type('text/plain').send(message);
  if (host === 'gateway' && status >= 500)
    return reply.type('application/json').send(JSON.stringify({ status: 'InternalServer', errors: [{ message }] }));
  return reply.type('application/problem+json').send(
    JSON.stringify({
      type: 'about:blank',
      title: message,
      status,
      code,
      ...(status >= 500 ? { instance: requestId } : {}),
    }),
  );
}

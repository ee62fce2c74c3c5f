/** What both fronts say themselves: whose an address is, and how they answer where no app does. */
import { randomUUID } from 'node:crypto';
import { appFor, type ErrorCode, type Host } from '@svc/contracts';

/** What a front answers itself: nobody is named for the address, or the app that is does not answer. */
export interface OwnAnswer {
  readonly status: 404 | 413 | 502 | 503 | 504;
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export const NOTHING_FOUND: OwnAnswer = {
  status: 404,
  code: 'resource.not-found',
  message: 'Nothing was found here.',
};

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

export interface WrittenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** In the form that callers of this host know: C5 and H1, or a sentence for a person's browser. */
export function writeAnswer(
  host: Host,
  accept: string | undefined,
  { status, code, message, retryAfterSeconds }: OwnAnswer,
): WrittenAnswer {
  const requestId = randomUUID();
  const written = (contentType: string, body: string): WrittenAnswer => ({
    status,
    headers: {
      'x-request-id': requestId,
      'cache-control': 'no-store',
      'content-type': contentType,
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body,
  });
  if (accept?.includes('text/html')) return written('text/plain; charset=utf-8', message);
  if (host === 'gateway')
    return written(
      'application/json; charset=utf-8',
      JSON.stringify({ status: statusOf(status), errors: [{ message }] }),
    );
  const instance = status >= 500 ? { instance: requestId } : {};
  const problem = { type: 'about:blank', title: message, status, code, ...instance };
  return written('application/problem+json', JSON.stringify(problem));
}

function statusOf(status: OwnAnswer['status']): 'NotFound' | 'BadRequest' | 'InternalServer' {
  if (status === 404) return 'NotFound';
  return status === 413 ? 'BadRequest' : 'InternalServer';
}

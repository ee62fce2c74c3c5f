/** What both fronts decide themselves: which app has an address, and what is answered where none does. */
import { randomUUID } from 'node:crypto';
import { appFor, type ErrorCode, type Host } from '@svc/contracts';

/** An answer of the proxy itself: no app has this address, or the app does not answer. */
export interface ProxyError {
  readonly status: 404 | 413 | 502 | 503 | 504;
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export const NOT_FOUND: ProxyError = {
  status: 404,
  code: 'resource.not-found',
  message: 'Nothing was found here.',
};

/**
 * The app that a request is forwarded to. A path that parsers normalise to another one (`/pay/../admin`, `/pay\admin`) has no
 * app; otherwise the table would check one path and the app serve another.
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

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** In the form that callers of this host know: C5 and H1, or a sentence for a person's browser. */
export function writeProxyError(
  host: Host,
  accept: string | undefined,
  { status, code, message, retryAfterSeconds }: ProxyError,
): ProxyAnswer {
  const requestId = randomUUID();
  const written = (contentType: string, body: string): ProxyAnswer => ({
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

function statusOf(status: ProxyError['status']): 'NotFound' | 'BadRequest' | 'InternalServer' {
  if (status === 404) return 'NotFound';
  return status === 413 ? 'BadRequest' : 'InternalServer';
}

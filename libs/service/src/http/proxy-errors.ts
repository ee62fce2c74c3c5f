/** Routing and error responses of both proxies: the app of an address, and the response when there is none. */
import { randomUUID } from 'node:crypto';
import {
  appFor,
  ERROR_CATALOGUE,
  ERROR_PAGES_PATH,
  type ErrorCode,
  errorPageUrl,
  type Host,
  type Problem,
} from '@svc/contracts';
import { helpLinkTo } from './error-filter.js';

/** A response of the proxy itself: no app has this address, or the app does not respond. */
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

export interface ProxyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Texts for a payer's browser, the same as on the payment page (languages/en.ts of the hosted gateway, which a test compares): that
 * page cannot be rendered while its process is down.
 */
export const PAGE_WORDS = {
  notFound: [
    'This payment page does not exist',
    'The address is incomplete or no longer valid. Go back to the store and start the payment again.',
  ],
  unavailable: [
    'This page is not available at the moment',
    'If you have pressed Pay already, do not pay again: nothing is lost, and the outcome will be shown here.',
    'This page tries again by itself every few seconds. You can also close it and come back later.',
  ],
} as const;

/** Refresh interval of a payment page that cannot be shown, in seconds. */
const TRY_AGAIN_SECONDS = 5;

/** A page of text, without a style or a script. */
function pageOf(host: Host, { status, message }: ProxyError): string {
  const ofPayer = status === 404 ? PAGE_WORDS.notFound : PAGE_WORDS.unavailable;
  const [heading, ...notes] = host === 'gateway' && status !== 413 ? ofPayer : [message];
  const triesAgain = host === 'gateway' && status >= 500;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<title>${heading}</title><meta name="viewport" content="width=device-width, initial-scale=1">`,
    '<meta name="color-scheme" content="light dark">',
    triesAgain ? `<meta http-equiv="refresh" content="${TRY_AGAIN_SECONDS}">` : '',
    `</head><body><main><h1>${heading}</h1>${notes.map((note) => `<p>${note}</p>`).join('')}</main></body></html>`,
  ].join('');
}

export interface ProxyCaller {
  readonly host: Host;
  /** Field `Accept` of the request. */
  readonly accept: string | undefined;
  /** Base address of the error pages (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
}

/** In the format that callers of this host expect: C5 and H1, or a page for a person's browser. */
export function writeProxyError(
  { host, accept, errorPages = ERROR_PAGES_PATH }: ProxyCaller,
  error: ProxyError,
): ProxyResponse {
  const { status, code, message, retryAfterSeconds } = error;
  const errorPage = errorPageUrl(errorPages, code);
  const requestId = randomUUID();
  const written = (contentType: string, body: string): ProxyResponse => ({
    status,
    headers: {
      'x-request-id': requestId,
      'cache-control': 'no-store',
      'content-type': contentType,
      link: helpLinkTo(errorPage),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body,
  });
  if (accept?.includes('text/html')) {
    const page = written('text/html; charset=utf-8', pageOf(host, error));
    const policy = { 'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'" };
    return { ...page, headers: { ...page.headers, ...policy } };
  }
  if (host === 'gateway')
    return written(
      'application/json; charset=utf-8',
      JSON.stringify({ status: statusOf(status), errors: [{ message }] }),
    );
  const errors = [{ errorReference: ERROR_CATALOGUE[code].errorReference, message }];
  const problem: Problem = {
    type: errorPage,
    title: message,
    status,
    code,
    detail: message,
    instance: requestId,
    errors,
  };
  return written('application/problem+json', JSON.stringify(problem));
}

function statusOf(status: ProxyError['status']): 'NotFound' | 'BadRequest' | 'InternalServer' {
  if (status === 404) return 'NotFound';
  return status === 413 ? 'BadRequest' : 'InternalServer';
}

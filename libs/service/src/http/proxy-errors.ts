/**
 * Routing and error responses of the two reverse proxies, apps/front and apps/all-in-one: which app gets a request, and
 * the response if no app gets it.
 */
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
import { ERROR_CODE_HEADER, helpLinkTo } from './error-filter.js';
import { prefersToJson } from './negotiation.js';
import { explainUnknownRoute, type UnknownRequest } from './unknown-routes.js';

/** An error response of the reverse proxy: no app has this path, or the app does not respond. */
export interface ProxyError {
  readonly status: 404 | 405 | 413 | 502 | 503 | 504;
  readonly code: ErrorCode;
  readonly message: string;
  /** Methods of the path, only for a 405. */
  readonly allow?: string;
  readonly retryAfterSeconds?: number;
}

/** The path cannot be parsed. */
export const NOT_FOUND: ProxyError = {
  status: 404,
  code: 'resource.not-found',
  message: 'Nothing was found here.',
};

/** The error for a request that no app of the host serves: names a similar path, or the host that has the path. */
export function createNotFoundError(request: UnknownRequest): ProxyError {
  const { code, message, allow } = explainUnknownRoute(request);
  return allow === undefined ? { status: 404, code, message } : { status: 405, code, message, allow };
}

/**
 * The app to which a request is forwarded. Returns undefined for a path that a parser would change (`/pay/../admin`,
 * `/pay\admin`, `//host/admin`), because the app could otherwise handle another path than the path that is checked here.
 */
export function appForAddress(host: Host, address: string, method = 'GET'): string | undefined {
  const path = address.split('?', 1)[0] ?? '';
  if (URL.parse(path, 'http://proxy')?.pathname !== path || !isDecodable(path)) return undefined;
  return appFor(host, path, method);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

interface ProxyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Texts for a payer's browser, because the payment page cannot be rendered while its process is down. A test checks
 * that they are equal to the texts of the payment page (languages/en.ts of the hosted gateway).
 */
export const PAGE_TEXTS = {
  notFound: [
    'This payment page does not exist',
    'The address is incomplete or no longer valid. Go back to the store and start the payment again.',
  ],
  unavailable: [
    'This page is not available at the moment',
    'If you have already pressed Pay, do not pay again: your payment is not lost, and this page will show the result.',
    'This page tries again every few seconds. You can also close it and come back later.',
  ],
} as const;

/** Refresh interval of the page that replaces an unavailable payment page, in seconds. */
const REFRESH_SECONDS = 5;

/** Renders a page of text, without styles and scripts. */
function renderPage(host: Host, { status, message }: ProxyError): string {
  const payerTexts = status === 404 ? PAGE_TEXTS.notFound : PAGE_TEXTS.unavailable;
  const isPayerText = host === 'gateway' && (status === 404 || status >= 500);
  const [heading, ...notes] = isPayerText ? payerTexts : [message];
  const hasRefresh = host === 'gateway' && status >= 500;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<title>${heading}</title><meta name="viewport" content="width=device-width, initial-scale=1">`,
    '<meta name="color-scheme" content="light dark">',
    hasRefresh ? `<meta http-equiv="refresh" content="${REFRESH_SECONDS}">` : '',
    `</head><body><main><h1>${heading}</h1>${notes.map((note) => `<p>${note}</p>`).join('')}</main></body></html>`,
  ].join('');
}

interface ProxyCaller {
  readonly host: Host;
  /** Header `Accept` of the request. */
  readonly accept: string | undefined;
  /** Base URL of the error pages (SVC_ERROR_PAGES_URL). */
  readonly errorPages?: string | undefined;
}

/**
 * Creates an error response in the format of the host: the problem body (C5), the envelope of the hosted gateway (H1),
 * or a page for a browser.
 */
export function createProxyErrorResponse(
  { host, accept, errorPages = ERROR_PAGES_PATH }: ProxyCaller,
  error: ProxyError,
): ProxyResponse {
  const { status, code, message, allow, retryAfterSeconds } = error;
  const errorPage = errorPageUrl(errorPages, code);
  const requestId = randomUUID();
  const newResponse = (contentType: string, body: string): ProxyResponse => ({
    status,
    headers: {
      'x-request-id': requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': contentType,
      [ERROR_CODE_HEADER]: code,
      link: helpLinkTo(errorPage),
      ...(allow === undefined ? {} : { allow }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body,
  });
  if (prefersToJson('text/html', accept)) {
    const page = newResponse('text/html; charset=utf-8', renderPage(host, error));
    const policies = {
      'content-security-policy': "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
      'referrer-policy': 'no-referrer',
    };
    return { ...page, headers: { ...page.headers, ...policies } };
  }
  if (host === 'gateway')
    return newResponse(
      'application/json; charset=utf-8',
      JSON.stringify({ status: envelopeStatusOf(status), errors: [{ message }] }),
    );
  const errors = [{ errorReference: ERROR_CATALOGUE[code].errorReference, message }];
  const problem: Problem = {
    type: errorPage,
    title: ERROR_CATALOGUE[code].message,
    status,
    code,
    detail: message,
    instance: requestId,
    errors,
  };
  return newResponse('application/problem+json', JSON.stringify(problem));
}

function envelopeStatusOf(status: ProxyError['status']): 'NotFound' | 'BadRequest' | 'InternalServer' {
  if (status === 404) return 'NotFound';
  return status < 500 ? 'BadRequest' : 'InternalServer';
}

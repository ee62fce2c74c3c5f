/** Headers that describe the message, the connection or the request. All other headers instruct the client. */
const OTHER_HEADERS: ReadonlySet<string> = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'vary', 'date', 'etag'],
  ...['connection', 'keep-alive', 'x-request-id', 'location', 'link', 'retry-after', 'x-error-code', 'allow'],
]);

/**
 * The headers of a response that protect a page: policies, caching and cookies. A test compares them as a whole, because
 * a test of parts does not notice a missing header or directive.
 */
export function pickSecurityHeaders(
  headers: Headers | Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(entries.filter(([name]) => !OTHER_HEADERS.has(name) && !name.startsWith('x-ratelimit-')));
}

/**
 * The security headers of every response of a service outside production, unless the response replaces one. (In
 * production there is also Strict-Transport-Security.)
 */
export const SERVICE_SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
} as const;

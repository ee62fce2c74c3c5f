/**
 * The `href` of a link to a URL. Omitted unless the URL is http(s), because a browser would run a `javascript:` URL.
 * The API already rejects such URLs when a session is created. This is a second check.
 */
export function buildSafeHref(address: string): { href?: string } {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? { href: address } : {};
}

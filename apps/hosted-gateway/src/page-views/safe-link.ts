/**
 * The `href` of a link, only if the address is http(s): a link without `href` does nothing, but one to
 * `javascript:` would run. The API rejects such addresses when a session is created; this is the last check before the
 * payer's browser.
 */
export function linkTo(address: string): { href?: string } {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? { href: url.href } : {};
}

/**
 * The `href` of a link, if the address is http(s), otherwise none: a link without an address is dead, one to
 * `javascript:` would run. The API refuses such addresses when a session is made; this is the last door before the
 * payer's browser.
 */
export function linkTo(address: string): { href?: string } {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? { href: url.href } : {};
}

/** The cookie in which a browser keeps which payments of an invoice it made: written by the page's script, read by the server. */
const NAME = 'svc-payment';
/** As many as a page has tries. */
const KEPT_MAX = 5;

/**
 * References of payments, the newest first and at most five; whatever stands there, a UUID or not.
 *
 * @param cookies a `Cookie` header, or `document.cookie`
 */
export function ownReferencesIn(cookies: string): string[] {
  const value = new RegExp(`(?:^|;\\s*)${NAME}=([^;\\s]*)`).exec(cookies)?.[1] ?? '';
  return value.split('.').slice(0, KEPT_MAX).filter(Boolean);
}

/** The cookie, as name and value, with one more payment: the oldest of six is forgotten. */
export function withOwnReference(cookies: string, reference: string): string {
  const others = ownReferencesIn(cookies).filter((other) => other !== reference);
  return `${NAME}=${[reference, ...others].slice(0, KEPT_MAX).join('.')}`;
}

/**
 * Name of the cookie with the references of this browser's payments of an invoice. The page's script writes the cookie,
 * and the server reads it.
 */
const COOKIE_NAME = 'svc-payment';
/** Enough for the payments of one payer. Also the number of payments on the page of a session. */
const MAX_REFERENCES = 5;

/**
 * The payment references in the cookie, newest first, at most five. They are not validated and may be any text.
 *
 * @param cookies a `Cookie` header, or `document.cookie`
 */
export function parseOwnReferences(cookies: string): string[] {
  const value = new RegExp(`(?:^|;\\s*)${COOKIE_NAME}=([^;\\s]*)`).exec(cookies)?.[1] ?? '';
  return value.split('.').slice(0, MAX_REFERENCES).filter(Boolean);
}

/** The cookie (`name=value`) with this reference first, followed by at most four earlier references. */
export function addOwnReference(cookies: string, reference: string): string {
  const others = parseOwnReferences(cookies).filter((other) => other !== reference);
  return `${COOKIE_NAME}=${[reference, ...others].slice(0, MAX_REFERENCES).join('.')}`;
}

/** Name of the cookie with the references of the payments that this browser made for an invoice. The page's script writes it, the server reads it. */
const COOKIE_NAME = 'svc-payment';
/** A page allows the same number of attempts. */
const MAX_REFERENCES = 5;

/**
 * Payment references in the cookie, newest first, at most five. Not validated: they may not be UUIDs.
 *
 * @param cookies a `Cookie` header, or `document.cookie`
 */
export function parseOwnReferences(cookies: string): string[] {
  const value = new RegExp(`(?:^|;\\s*)${COOKIE_NAME}=([^;\\s]*)`).exec(cookies)?.[1] ?? '';
  return value.split('.').slice(0, MAX_REFERENCES).filter(Boolean);
}

/** The cookie (`name=value`) with the new reference first; only the newest five stay. */
export function withOwnReference(cookies: string, reference: string): string {
  const others = parseOwnReferences(cookies).filter((other) => other !== reference);
  return `${COOKIE_NAME}=${[reference, ...others].slice(0, MAX_REFERENCES).join('.')}`;
}

/** The part of a response from which a hint for the merchant's developer is derived. */
interface HintedResponse {
  readonly statusCode: number;
  /** The header `Location`. */
  readonly location: string | undefined;
  /** The beginning of the body. */
  readonly text: string;
  /** The URL to which the notification was sent. */
  readonly url: URL;
}

const MAX_URL_LENGTH = 2_048;
const HTML_PAGE = /^\s*<(!doctype\s+html|html)\b/i;

/**
 * Explains a response that is probably a mistake of the endpoint's developer. The hint never changes the result of the
 * attempt: any 2xx acknowledges the notification (E1), and redirects are not followed.
 */
export function describeResponseHint({ statusCode, location, text, url }: HintedResponse): string | undefined {
  if (statusCode >= 200 && statusCode < 300 && HTML_PAGE.test(text))
    return 'The endpoint responded with an HTML page. The notification counts as delivered, but a page of the shop, a login or a maintenance page may have received it. Check the address.';
  // 304 is no redirect, and other codes from 300 have no final address.
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const finalUrl = readFinalUrl(location, url);
  return finalUrl === undefined
    ? 'Redirects are not followed: use the final address of the endpoint.'
    : `Redirects are not followed. Change the address to: ${finalUrl}`;
}

/** Undefined if the header does not contain a URL that could be used instead. */
function readFinalUrl(location: string | undefined, url: URL): string | undefined {
  const target = location === undefined ? null : URL.parse(location, url.href);
  if (target === null || !['http:', 'https:'].includes(target.protocol)) return undefined;
  if (target.username !== '' || target.password !== '' || target.href.length > MAX_URL_LENGTH) return undefined;
  return target.href;
}

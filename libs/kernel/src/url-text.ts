/**
 * Functions for URLs of merchants and partners that keep the text of the URL. `new URL` and `URLSearchParams`
 * normalise a URL: `?name=Caf%E9&x=a%20b~c&flag` would become `?name=Caf%EF%BF%BD&x=a+b%7Ec&flag=`, which the merchant's
 * server may read differently. The URLs have been checked by `merchantUrlProblem`.
 */

/** Scheme, authority, and the rest of an absolute URL. */
const URL_PARTS = /^([a-z][a-z\d+.-]*:\/\/)([^/?#\\]+)(.*)$/is;
const INVISIBLE_OR_NOT_ASCII = /[^\x21-\x7e]+/g;

/**
 * Whether all programs read the same host in a URL. For example, browsers read a backslash as a slash, and other
 * programs read it as a part of a user name.
 */
export function hasUnambiguousHost(address: string): boolean {
  const [, , authority = '@', rest = ''] = URL_PARTS.exec(removeIgnoredCharacters(address)) ?? [];
  return !authority.includes('@') && !/^[^?#]*\\/.test(rest);
}

/**
 * Returns the URL in a form that a header can contain. Characters other than visible ASCII are encoded, and a host with
 * such characters is converted to ASCII. White space that the URL parser ignores is removed. Nothing else changes.
 */
export function encodeUrlForHeader(address: string): string {
  const text = removeIgnoredCharacters(address);
  const [, scheme = '', authority = '', rest = ''] = URL_PARTS.exec(text) ?? [];
  if (authority === '') return new URL(text).href;
  const host = authority.search(INVISIBLE_OR_NOT_ASCII) < 0 ? authority : new URL(text).host;
  return `${scheme}${host}${rest.toWellFormed().replaceAll(INVISIBLE_OR_NOT_ASCII, encodeURIComponent)}`;
}

/**
 * Appends parameters to the query of a URL, in a form that a header can contain. Parameters of the same names are
 * removed first. The fragment stays last.
 */
export function setQueryParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const [beforeFragment, fragment] = splitAt(encodeUrlForHeader(address), '#');
  const [path, query] = splitAt(beforeFragment, '?');
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => !Object.hasOwn(parameters, parseName(pair)))
    .join('&');
  const added = Object.entries(parameters).map(
    ([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`,
  );
  const separator = kept === '' || kept.endsWith('&') ? '' : '&';
  return `${path}?${kept}${separator}${added.join('&')}${fragment}`;
}

/** Returns path and query of a URL for the first line of an HTTP request. */
export function buildRequestTarget(address: string): string {
  const [, , , rest = ''] = URL_PARTS.exec(encodeUrlForHeader(address)) ?? [];
  const [target] = splitAt(rest, '#');
  return target.startsWith('/') ? target : `/${target}`;
}

/** Removes the characters that the URL parser ignores: tabs, line breaks, and white space around the URL. */
function removeIgnoredCharacters(address: string): string {
  const text = address.replaceAll(/[\t\n\r]/g, '');
  let [start, end] = [0, text.length];
  while (start < end && text[start]! <= ' ') start++;
  while (end > start && text[end - 1]! <= ' ') end--;
  return text.slice(start, end);
}

/** Splits a text before the first separator. The second part is empty if there is no separator. */
function splitAt(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index)];
}

/** The decoded name of one parameter. A leading `?` would not be part of the name without the `&`. */
function parseName(pair: string): string {
  return new URLSearchParams(`&${pair}`).keys().next().value ?? '';
}

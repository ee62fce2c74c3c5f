/**
 * What a client is made with, checked where it is given: a setting that is missing otherwise shows as "Invalid URL", or as a
 * 401 of the first call.
 */

/** @returns the address without the slashes at its end. @throws TypeError that names the option and says what it should be */
export function baseAddress(value: unknown, name: string): string {
  const text = requiredText(value, name);
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:')
    throw new TypeError(`${name} must be an http(s) address, as in https://pay.example.com`);
  // fetch refuses the one; of the other, and of what follows "?", nothing would be left in the addresses of the calls.
  if (address.username !== '' || address.password !== '' || address.search !== '' || address.hash !== '')
    throw new TypeError(`${name} must be an address without a user, a query and a fragment`);
  return `${address.origin}${address.pathname.replace(/\/+$/, '')}`;
}

/** An id of a merchant or a site, in a path or a header. `..` or an empty text would silently be another resource. */
export function requiredDigits(value: unknown, name: string): string {
  if (value === undefined || value === null) throw missing(name);
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (!/^\d{1,16}$/.test(text)) throw new TypeError(`${name} must be digits`);
  return text;
}

/** A key, a token or another name that travels in a header. Its value is never repeated in the error. */
export function requiredText(value: unknown, name: string): string {
  if (value === undefined || value === null || value === '') throw missing(name);
  if (typeof value !== 'string') throw new TypeError(`${name} must be text`);
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new TypeError(`${name} has a space, a line break or another character that does not belong there`);
  return value;
}

function missing(name: string): TypeError {
  return new TypeError(`${name} is missing: is the setting that it comes from set?`);
}

/**
 * Validates the options of a client when it is created. Otherwise a missing setting would cause an "Invalid URL"
 * error or a 401 at the first call.
 */

/** @returns the URL without trailing slashes. @throws TypeError that names the option and the expected value */
export function requiredBaseUrl(value: unknown, name: string): string {
  const text = requiredText(value, name);
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:')
    throw new TypeError(`${name} must be an http(s) address, as in https://pay.example.com`);
  // fetch() refuses a URL with a user. A query or a fragment would be missing in the URLs of the calls.
  if (address.username !== '' || address.password !== '' || address.search !== '' || address.hash !== '')
    throw new TypeError(`${name} must be an address without a user, a query and a fragment`);
  return `${address.origin}${address.pathname.replace(/\/+$/, '')}`;
}

/**
 * Validates the id of a merchant or a site, which is sent in a path or a header. The id must consist of digits, because
 * `..` or an empty text in a path would address another resource.
 */
export function requiredDigits(value: unknown, name: string): string {
  if (value === undefined || value === null) throw missingOptionError(name);
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (!/^\d{1,16}$/.test(text)) throw new TypeError(`${name} must be digits`);
  return text;
}

/** A key, a token or a name that is sent in a header. The error never contains its value. */
export function requiredText(value: unknown, name: string): string {
  if (value === undefined || value === null || value === '') throw missingOptionError(name);
  if (typeof value !== 'string') throw new TypeError(`${name} must be text`);
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new TypeError(`${name} has a space, a line break or another invalid character`);
  return value;
}

function missingOptionError(name: string): TypeError {
  return new TypeError(`${name} is missing: check the setting that it comes from`);
}

/** Recognises the columns of guards (conditions on owner, mode, version, state, lease or expiry) by their words. */

const VERSION_WORDS = ['version', 'versions', 'generation', 'txid', 'position', 'sequence'];
const GUARD_WORDS: ReadonlySet<string> = new Set([
  ...`lease leased lock locked claim claimed fence holder mode`.split(' '),
  ...VERSION_WORDS,
  ...`state states status outcome open closed revoked withdrawn reserved paid refused cancelled superseded served
    finished retired failed success succeeded delivered exhausted gone pending readable required keyless dead
    reversed`.split(/\s+/),
  ...`expires expired expiry expire until deadline due stale abandoned now ttl ends`.split(' '),
  ...`merchant merchants site sites organisation organisations organization customer customers user users partner
    partners owner owners tenant payer session endpoint hash purpose recipient payable invoice kind`.split(/\s+/),
]);
/** These words indicate a guard only at the end of a name: `expires_at`, `signs_from`. */
const LAST_WORDS: ReadonlySet<string> = new Set(['at', 'after', 'from', 'since', 'active']);
/** A name that consists of only one of these words is the cursor of a page. */
const CURSOR_WORDS: ReadonlySet<string> = new Set(['after', 'from', 'since']);
/** A name that ends in one of these words is a description or a number, not a guard. */
const DESCRIPTIONS: ReadonlySet<string> = new Set([
  'name',
  'names',
  'url',
  'urls',
  'label',
  'text',
  'max',
  'code',
  'body',
  'count',
]);
/** The status of an HTTP response is not a guard. */
const HTTP_STATUS = /^(http_?status|status_?code)$/i;

export function isGuard(name: string): boolean {
  const words = splitWords(name);
  const last = words.at(-1);
  if (last === undefined || DESCRIPTIONS.has(last) || HTTP_STATUS.test(name)) return false;
  if (words.length === 1 && CURSOR_WORDS.has(last)) return false;
  return LAST_WORDS.has(last) || words.some((word) => GUARD_WORDS.has(word));
}

/** An API version separates data as a mode does: no version is newer than another. */
export function isVersion(name: string): boolean {
  const words = splitWords(name);
  return words[0] !== 'api' && words.some((word) => VERSION_WORDS.includes(word));
}

/** `leased_until` and `leasedUntil` as [leased, until]. */
function splitWords(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

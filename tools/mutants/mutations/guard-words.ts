/**
 * Recognises the names of guards (conditions on owner, mode, version, state, lease or expiry) by their words, in
 * columns and in properties.
 */
export type Guard = 'owner' | 'mode' | 'version' | 'state' | 'lease' | 'expiry';

/** The words of each guard. If a name contains words of two guards, the first guard has precedence. */
const GUARD_WORDS: Readonly<Record<Guard, readonly string[]>> = {
  lease: ['lease', 'leased', 'lock', 'locked', 'claim', 'claimed', 'fence', 'holder'],
  version: ['version', 'versions', 'generation', 'txid', 'position', 'sequence'],
  mode: ['mode'],
  state: [
    ...[
      'state',
      'states',
      'status',
      'outcome',
      'open',
      'closed',
      'revoked',
      'withdrawn',
      'reserved',
      'paid',
      'refused',
    ],
    ...['cancelled', 'superseded', 'served', 'finished', 'retired', 'active', 'failed', 'success', 'succeeded'],
    ...['delivered', 'exhausted', 'gone', 'pending', 'readable', 'required', 'require', 'keyless', 'dead', 'reversed'],
  ],
  expiry: [
    ...['expires', 'expired', 'expiry', 'expire', 'until', 'deadline', 'due', 'stale', 'abandoned'],
    ...['now', 'clock', 'ttl', 'at', 'after', 'from', 'since', 'ends'],
  ],
  owner: [
    ...[
      'merchant',
      'merchants',
      'site',
      'sites',
      'organisation',
      'organisations',
      'organization',
      'customer',
      'customers',
    ],
    ...['user', 'users', 'partner', 'partners', 'owner', 'owners', 'tenant', 'payer'],
  ],
};

/**
 * In conditions on rows these words also indicate an owner: a row belongs to a session or to a payable, or a key has a
 * purpose. In other code most of their uses are not guards.
 */
const OWNERS_OF_ROWS: ReadonlySet<string> = new Set([
  'session',
  'endpoint',
  'hash',
  'purpose',
  'recipient',
  'payable',
  'invoice',
  'kind',
]);
/** These words indicate a guard only at the end of a name: `expires_at`, `signsFrom`. */
const ONLY_AS_LAST_WORD = new Set(['at', 'after', 'from', 'since', 'active']);
/** A name that consists of only one of these words is the cursor of a page. */
const CURSOR_WORDS = new Set(['after', 'from', 'since']);
/** A name that ends in one of these words is a description or a number, not a guard. */
const DESCRIPTIONS = new Set([
  'name',
  'names',
  'url',
  'urls',
  'label',
  'text',
  'max',
  'code',
  'body',
  'id_max',
  'count',
]);
/** The status of an HTTP response, an SQL error or a browser's document is not a guard. */
const OTHER_STATUS = /^(http_?status|status_?code|sql_?state|ready_?state|visibility_?state)$/i;

/** `leased_until`, `leasedUntil` and `LEASED_UNTIL` as [leased, until]. */
export function splitWords(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

export function findGuard(name: string): Guard | undefined {
  if (OTHER_STATUS.test(name)) return undefined;
  const words = splitWords(name);
  const last = words.at(-1);
  if (last === undefined || DESCRIPTIONS.has(last)) return undefined;
  // An API version separates data as a mode does: no version is newer than another.
  if (words[0] === 'api' && last === 'version') return 'mode';
  if (words.length === 1 && CURSOR_WORDS.has(last)) return undefined;
  const guards = Object.keys(GUARD_WORDS) as Guard[];
  return guards.find((guard) =>
    words.some((word) => GUARD_WORDS[guard].includes(word) && (!ONLY_AS_LAST_WORD.has(word) || word === last)),
  );
}

/** The first guard, in the order of GUARD_WORDS, of any of the names. */
export function findStrongestGuard(names: readonly string[]): Guard | undefined {
  const found = new Set(names.map(findGuard));
  return (Object.keys(GUARD_WORDS) as Guard[]).find((guard) => found.has(guard));
}

/** As {@link findStrongestGuard}, for the columns of a condition on rows. */
export function findGuardOfRows(columns: readonly string[]): Guard | undefined {
  const belongsToRow = (column: string) => splitWords(column).some((word) => OWNERS_OF_ROWS.has(word));
  return findStrongestGuard(columns) ?? (columns.some(belongsToRow) ? 'owner' : undefined);
}

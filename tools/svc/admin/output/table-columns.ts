/**
 * The columns of lists whose rows have more members than a terminal has columns. The order is that of importance: the
 * last columns are cut first. `--json` prints all members.
 */
export type Row = Readonly<Record<string, unknown>>;

export interface Column {
  /** The member of the row, which also determines its format. */
  readonly name: string;
  /** Default: the name. */
  readonly title?: string;
  /** Whether the values are cents, although the name does not end with `amount`. */
  readonly isAmount?: boolean;
  /** Default: the member itself. */
  readonly read?: (row: Row) => unknown;
}

const columns = (...names: (string | Column)[]): Column[] =>
  names.map((name) => (typeof name === 'string' ? { name } : name));
const titled = (name: string, title: string): Column => ({ name, title });

const merchant = titled('merchantId', 'merchant');
const payment = titled('svcId', 'payment');
const revoked = titled('revokedUTCDate', 'revoked');

/** By the name of the command. For a list within an object, the name of its member follows. */
export const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  'merchants list': columns('merchantId', 'name', titled('siteCount', 'sites'), 'timeZone', 'createdUTCDate'),
  'merchants show sites': columns(
    ...['siteId', 'name', 'siteReference'],
    titled('requireApiKey', 'needs key'),
    titled('webhookEnabled', 'webhook'),
    titled('challengePayers', 'challenge'),
    ...['allowedHosts', 'webhookUrl'],
  ),
  'people list people': columns(
    ...['personId', 'name', 'email', { name: 'roles', read: listRoles }],
    ...[titled('secondFactors', 'second factors'), titled('lastSignInUTCDate', 'last sign-in')],
  ),
  'people list invitations': columns(
    ...['invitationId', 'email', 'role', titled('siteId', 'site'), titled('expiresUTCDate', 'expires')],
  ),
  'operators list operators': columns(
    ...['personId', 'name', 'email', 'role'],
    ...[titled('secondFactors', 'second factors'), titled('lastSignInUTCDate', 'last sign-in')],
  ),
  'operator-keys list': columns(...['keyId', 'email', 'role', 'prefix', 'ended', titled('expiresUTCDate', 'expires')]),
  'operators list invitations': columns(...['invitationId', 'email', 'role', titled('expiresUTCDate', 'expires')]),
  'keys list': columns('keyId', 'mode', 'prefix', 'primary', 'createdUTCDate', revoked),
  'api-tokens list': columns('tokenId', 'mode', 'prefix', 'createdUTCDate', revoked),
  'webhook-secrets list': columns('secretId', 'mode', 'createdUTCDate', revoked),
  'audit-log read': columns(
    titled('entryId', 'entry'),
    ...['changedUTCDate', 'action', 'actor'],
    merchant,
    titled('siteId', 'site'),
    'service',
    { name: 'change', read: ({ after, before }) => after ?? before },
  ),
  'refunds list': columns('refundReference', 'amount', 'status', payment, merchant, 'createdUTCDate', 'reason'),
  'disputes list': columns(
    ...['disputeReference', 'stage', 'amount', titled('respondByUTCDate', 'respond by'), payment, merchant, 'reason'],
  ),
  'disputes incidents': columns(
    titled('lastSeenUTCDate', 'last seen'),
    ...['problem', 'occurrences', 'mode', 'acquirer', 'disputeReference', 'reportReference'],
  ),
  'settlement-reports list': columns(
    ...[
      'reportId',
      'state',
      'receivedUTCDate',
      titled('unmatchedLines', 'unmatched'),
      'mode',
      'acquirer',
      'name',
      'note',
    ],
  ),
  'settlement-reports unmatched': columns(
    titled('lineNumber', 'line'),
    ...['kind', titled('grossAmount', 'gross'), titled('netAmount', 'net'), payment, merchant, 'mode', 'problem'],
    ...['acquirerReference', 'batch', 'reportId'],
  ),
  'webhooks list': columns(
    ...['id', 'state', titled('orderId', 'order'), { name: 'reason', read: describeLastAttempt }],
    ...[titled('nextAttemptAt', 'next attempt'), 'type', 'url'],
  ),
  'webhooks failing': columns('merchantId', 'failures', 'pending', titled('openUntil', 'next probe'), 'endpoint'),
  'webhooks show attempts': columns(
    titled('attemptNumber', 'attempt'),
    ...['startedAt', 'outcome', titled('statusCode', 'status'), titled('errorClass', 'error')],
    ...[titled('durationMs', 'ms'), 'hint', 'response'],
  ),
  reconcile: columns(
    merchant,
    ...['mode', 'differs', 'payments', { name: 'processed', isAmount: true }, 'failed', 'pending', 'unknown'],
    ...['refunds', { name: 'refunded', isAmount: true }, 'notes'],
  ),
  'dead-letters list': columns('messageId', 'failedAt', 'deliveries', 'type', 'error'),
};

interface LastAttempt {
  readonly statusCode?: number | null;
  readonly errorClass?: string | null;
  readonly hint?: string | null;
}

/** The roles of a person, those for one site with its id. */
function listRoles({ roles }: Row): string {
  const grants = roles as { role: string; siteId?: number }[];
  return grants.map(({ role, siteId }) => (siteId === undefined ? role : `${role} of ${siteId}`)).join(', ');
}

/**
 * Why a notification is not delivered: missing keys, or the result of the last attempt. Also marks a notification that
 * an HTML page has acknowledged, because the merchant's program has probably not received it.
 */
function describeLastAttempt({ missingKeys, lastAttempt, state, attemptCount }: Row): string | undefined {
  if (Array.isArray(missingKeys) && missingKeys.length > 0) return `no key: ${missingKeys.join(', ')}`;
  const { statusCode, errorClass, hint } = (lastAttempt ?? {}) as LastAttempt;
  if (state === 'delivered') return typeof hint === 'string' ? 'HTML page' : undefined;
  const result = typeof statusCode === 'number' ? `HTTP ${statusCode}` : errorClass;
  if (typeof result !== 'string') return undefined;
  return `${result} (${Number(attemptCount)}×)`;
}

/** Formats cents: `R 1 234.50`. Another currency than ZAR has its ISO code instead of R. */
export function formatAmount(cents: number, currencyISOCode: unknown = 'ZAR'): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const whole = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
  const currency = currencyISOCode === 'ZAR' ? 'R' : String(currencyISOCode);
  return `${cents < 0 ? '-' : ''}${currency} ${whole}.${digits.slice(-2)}`;
}

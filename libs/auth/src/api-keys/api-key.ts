import { createHash, randomBytes } from 'node:crypto';
import type { ErrorCode, Mode } from '@svc/contracts';
import { DomainError } from '@svc/kernel';

/** Owner of an API key (A6): a partner on the main API, a merchant with all its sites, or one site. */
type ApiKeyKind = 'partner' | 'merchant' | 'site';

const API_KEY_PATTERN = /^svc_(test|live)_(partner|merchant|site)_[A-Za-z0-9_-]{43}$/;

/** A new key: a prefix with its mode and kind, and 32 random bytes (A6), e.g. `svc_test_site_…`. */
export function newApiKey(kind: ApiKeyKind, mode: Mode): string {
  return `svc_${mode}_${kind}_${randomBytes(32).toString('base64url')}`;
}

/** The hash that is stored instead of the key. A fast hash is enough, because 32 random bytes cannot be guessed. */
export function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** Whether the text has the format of an API key. Other texts are rejected without a database query. */
export function hasApiKeyFormat(text: unknown): text is string {
  return typeof text === 'string' && API_KEY_PATTERN.test(text);
}

/**
 * The error for a rejected key. Its code and message describe only the text that was sent. They do not reveal whether
 * such a key exists or who owns it.
 *
 * @param kinds kinds of keys that are accepted
 */
export function createKeyError(apiKey: unknown, kinds: readonly ApiKeyKind[]): DomainError {
  const newError = (code: ErrorCode, message: string): DomainError => new DomainError(code, { message });
  if (apiKey === undefined || apiKey === '')
    return newError('credentials.key-missing', 'The header x-api-key is missing.');
  if (typeof apiKey !== 'string')
    return newError('credentials.key-malformed', 'The header x-api-key was sent more than once.');
  if (apiKey.startsWith('whsec_'))
    return newError('credentials.key-malformed', 'x-api-key has a webhook secret: send the API key.');
  const acceptedKinds = kinds.map((kind) => `a ${kind}`).join(' or ');
  const kind = /^svc_(?:test|live)_([a-z]+)_/.exec(apiKey)?.[1];
  if (kind !== undefined && isApiKeyKind(kind) && !kinds.includes(kind)) {
    const code = kind === 'partner' ? 'credentials.merchant-key-needed' : 'credentials.partner-key-needed';
    return newError(code, `x-api-key has the key of a ${kind}: send one of ${acceptedKinds}.`);
  }
  if (!hasApiKeyFormat(apiKey))
    return newError(
      'credentials.key-malformed',
      `x-api-key has no key: one of ${acceptedKinds} is svc_test_${kinds[0]}_ or svc_live_${kinds[0]}_ and 43 more characters.`,
    );
  return newError(
    'credentials.invalid',
    `x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of ${acceptedKinds}.`,
  );
}

function isApiKeyKind(text: string): text is ApiKeyKind {
  return text === 'partner' || text === 'merchant' || text === 'site';
}

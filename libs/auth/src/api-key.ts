import { createHash, randomBytes } from 'node:crypto';
import type { Mode } from '@svc/contracts';

/** Whom an API key speaks for (A6): a partner on the main API, a merchant for all its sites, or one site. */
export type ApiKeyKind = 'partner' | 'merchant' | 'site';

const SHAPE = /^svc_(test|live)_(partner|merchant|site)_[A-Za-z0-9_-]{43}$/;

/** A new key: 32 random bytes behind a prefix that tells kind and mode (A6), e.g. `svc_test_site_…`. */
export function newApiKey(kind: ApiKeyKind, mode: Mode): string {
  return `svc_${mode}_${kind}_${randomBytes(32).toString('base64url')}`;
}

/** What is stored and looked up. A plain hash is enough: 32 random bytes cannot be guessed from it. */
export function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** Whether it can be a key at all, so that nonsense costs no look-up. */
export function isApiKeyShaped(text: unknown): text is string {
  return typeof text === 'string' && SHAPE.test(text);
}

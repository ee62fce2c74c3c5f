import { TOKEN_SECONDS, type TokenKeyChanged, TokenKeyChangedV1, type TokenKeyJwk } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** A key that signs identity tokens (A2), without its private key. */
export interface TokenKey {
  readonly kid: string;
  readonly publicJwk: TokenKeyJwk;
  readonly createdAt: Date;
  /** It signs from this time on, until a newer key signs. */
  readonly signsFrom: Date;
  readonly withdrawnAt: Date | null;
  readonly version: number;
}

/** A new key is published this long before it signs, so that all verifiers have it (A2). */
export const PUBLISH_AHEAD_MS = 10 * 60_000;
/** How long a key signs. */
export const SIGNING_PERIOD_MS = 30 * 24 * 60 * 60_000;
/** A key is withdrawn this long after the next one began to sign: its last token expired a minute before. */
export const WITHDRAW_AFTER_MS = TOKEN_SECONDS * 1000 + 60_000;

/** The changes of the keys that are due. */
export interface RotationPlan {
  /** When a new key begins to sign; undefined when none is needed. */
  readonly nextSignsFrom: Date | undefined;
  readonly toWithdraw: readonly TokenKey[];
}

/** The key that signs: the newest one whose `signsFrom` has passed. */
export function signingKeyAt<K extends Pick<TokenKey, 'signsFrom' | 'withdrawnAt'>>(
  keys: readonly K[],
  now: Date,
): K | undefined {
  return keys
    .filter(({ signsFrom, withdrawnAt }) => withdrawnAt === null && signsFrom <= now)
    .sort((a, b) => b.signsFrom.getTime() - a.signsFrom.getTime())[0];
}

/** @param keys all keys that are not withdrawn */
export function planRotation(keys: readonly TokenKey[], now: Date): RotationPlan {
  const signing = signingKeyAt(keys, now);
  // The very first key, or after a leak: no older key can sign meanwhile.
  if (!signing) return { nextSignsFrom: now, toWithdraw: [] };
  const hasNext = keys.some(({ signsFrom }) => signsFrom > now);
  const endsAt = signing.signsFrom.getTime() + SIGNING_PERIOD_MS;
  const isDue = !hasNext && now.getTime() >= endsAt - PUBLISH_AHEAD_MS;
  const isPreviousExpired = now.getTime() >= signing.signsFrom.getTime() + WITHDRAW_AFTER_MS;
  return {
    nextSignsFrom: isDue ? nextSignsFrom(now) : undefined,
    toWithdraw: isPreviousExpired ? keys.filter(({ signsFrom }) => signsFrom < signing.signsFrom) : [],
  };
}

export function nextSignsFrom(now: Date): Date {
  return new Date(now.getTime() + PUBLISH_AHEAD_MS);
}

export function tokenKeyChanged({ kid, publicJwk, withdrawnAt, version }: TokenKey): NewEvent<TokenKeyChanged> {
  const payload = { publicJwk, withdrawn: withdrawnAt !== null };
  return { type: TokenKeyChangedV1, aggregateId: kid, aggregateVersion: version, payload };
}

/** A key in the list of the administration API. */
export interface TokenKeyView {
  readonly kid: string;
  /** `next`: published, does not sign yet. `signing`. `accepted`: signs no more, but its tokens are valid. */
  readonly state: 'next' | 'signing' | 'accepted';
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  readonly signsFromUTCDate: string;
}

/** @param keys all keys that are not withdrawn */
export function toTokenKeyViews(keys: readonly TokenKey[], now: Date): TokenKeyView[] {
  const signing = signingKeyAt(keys, now);
  return keys.map((key) => ({
    kid: key.kid,
    state: key.signsFrom > now ? 'next' : key.kid === signing?.kid ? 'signing' : 'accepted',
    createdUTCDate: key.createdAt.toISOString(),
    signsFromUTCDate: key.signsFrom.toISOString(),
  }));
}

import { TOKEN_SECONDS, type TokenKeyChanged, TokenKeyChangedV1, type TokenKeyJwk } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** A key that signs identity tokens (A2), without its private key. */
export interface TokenKey {
  readonly kid: string;
  readonly publicJwk: TokenKeyJwk;
  readonly createdAt: Date;
  /** The key signs from this time until a newer key signs. */
  readonly signsFrom: Date;
  readonly withdrawnAt: Date | null;
  readonly version: number;
}

/** A new key is published this long before it signs, so that all verifiers have received the key (A2). */
export const PUBLISH_AHEAD_MS = 10 * 60_000;
/** A key signs for this long. Then the next key signs. */
export const SIGNING_PERIOD_MS = 30 * 24 * 60 * 60_000;
/**
 * A key is withdrawn this long after the next key began to sign. At that time, the last token of the withdrawn key
 * expired a minute ago.
 */
export const WITHDRAW_AFTER_MS = TOKEN_SECONDS * 1000 + 60_000;

/** The changes that the rotation has to make now. */
interface RotationPlan {
  /** The time at which a new key begins to sign. Undefined if no new key is needed. */
  readonly nextSignsFrom: Date | undefined;
  readonly toWithdraw: readonly TokenKey[];
}

/** Returns the key that signs at this time: the newest key whose `signsFrom` has passed. */
export function signingKeyAt<K extends Pick<TokenKey, 'signsFrom' | 'withdrawnAt'>>(
  keys: readonly K[],
  now: Date,
): K | undefined {
  return keys
    .filter(({ signsFrom, withdrawnAt }) => withdrawnAt === null && signsFrom <= now)
    .sort((a, b) => b.signsFrom.getTime() - a.signsFrom.getTime())[0];
}

/**
 * Decides whether a new key is needed now, and which keys must be withdrawn.
 *
 * @param keys all keys that are not withdrawn
 */
export function planRotation(keys: readonly TokenKey[], now: Date): RotationPlan {
  const signingKey = signingKeyAt(keys, now);
  // There is no key yet, or the only key was withdrawn after a leak. The new key must sign immediately, because no
  // other key can sign.
  if (!signingKey) return { nextSignsFrom: now, toWithdraw: [] };
  const hasNext = keys.some(({ signsFrom }) => signsFrom > now);
  const endsAtMs = signingKey.signsFrom.getTime() + SIGNING_PERIOD_MS;
  const isNextDue = !hasNext && now.getTime() >= endsAtMs - PUBLISH_AHEAD_MS;
  const isPreviousExpired = now.getTime() >= signingKey.signsFrom.getTime() + WITHDRAW_AFTER_MS;
  return {
    nextSignsFrom: isNextDue ? nextSignsFrom(now) : undefined,
    toWithdraw: isPreviousExpired ? keys.filter(({ signsFrom }) => signsFrom < signingKey.signsFrom) : [],
  };
}

/** Returns the time at which a key begins to sign if the key is created now. */
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
  /**
   * `next`: the key is published, but does not sign yet. `signing`: the key signs new tokens. `accepted`: the key no
   * longer signs, but its tokens are still valid.
   */
  readonly state: 'next' | 'signing' | 'accepted';
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  readonly signsFromUTCDate: string;
}

/** @param keys all keys that are not withdrawn */
export function toTokenKeyViews(keys: readonly TokenKey[], now: Date): TokenKeyView[] {
  const signingKey = signingKeyAt(keys, now);
  return keys.map((key) => ({
    kid: key.kid,
    state: key.signsFrom > now ? 'next' : key.kid === signingKey?.kid ? 'signing' : 'accepted',
    createdUTCDate: key.createdAt.toISOString(),
    signsFromUTCDate: key.signsFrom.toISOString(),
  }));
}

import { TOKEN_SECONDS, type TokenKeyChanged, TokenKeyChangedV1, type TokenKeyJwk } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** A key that signs identity tokens (A2), without its private half. */
export interface TokenKey {
  readonly kid: string;
  readonly publicJwk: TokenKeyJwk;
  readonly createdAt: Date;
  /** From then on it signs, until a newer one does. */
  readonly signsFrom: Date;
  readonly withdrawnAt: Date | null;
  readonly version: number;
}

/** A new key is published this long before it signs, so that whoever verifies has heard of it (A2). */
export const PUBLISHED_BEFORE_MS = 10 * 60_000;
/** How long a key signs before the next one does. */
export const SIGNS_FOR_MS = 30 * 24 * 60 * 60_000;
/** A key is withdrawn this long after the next one has begun to sign: its last token has run out a minute before. */
export const OUTLIVES_MS = TOKEN_SECONDS * 1000 + 60_000;

/** What is to be done about the keys at this time. */
export interface RotationPlan {
  /** When a new key is to begin to sign; undefined when none is needed. */
  readonly nextSignsFrom: Date | undefined;
  readonly toWithdraw: readonly TokenKey[];
}

/** The key that signs: the newest whose time has come. */
export function signingKeyAt<K extends Pick<TokenKey, 'signsFrom' | 'withdrawnAt'>>(
  keys: readonly K[],
  now: Date,
): K | undefined {
  return keys
    .filter(({ signsFrom, withdrawnAt }) => withdrawnAt === null && signsFrom <= now)
    .sort((a, b) => b.signsFrom.getTime() - a.signsFrom.getTime())[0];
}

/** @param keys those that are not withdrawn */
export function planRotation(keys: readonly TokenKey[], now: Date): RotationPlan {
  const signing = signingKeyAt(keys, now);
  // The first key ever, or after a leak: there is nothing older that could sign meanwhile.
  if (!signing) return { nextSignsFrom: now, toWithdraw: [] };
  const isNextThere = keys.some(({ signsFrom }) => signsFrom > now);
  const endsAt = signing.signsFrom.getTime() + SIGNS_FOR_MS;
  const isDue = !isNextThere && now.getTime() >= endsAt - PUBLISHED_BEFORE_MS;
  const isOver = now.getTime() >= signing.signsFrom.getTime() + OUTLIVES_MS;
  return {
    nextSignsFrom: isDue ? nextSignsFrom(now) : undefined,
    toWithdraw: isOver ? keys.filter(({ signsFrom }) => signsFrom < signing.signsFrom) : [],
  };
}

export function nextSignsFrom(now: Date): Date {
  return new Date(now.getTime() + PUBLISHED_BEFORE_MS);
}

export function tokenKeyChanged({ kid, publicJwk, withdrawnAt, version }: TokenKey): NewEvent<TokenKeyChanged> {
  const payload = { publicJwk, withdrawn: withdrawnAt !== null };
  return { type: TokenKeyChangedV1, aggregateId: kid, aggregateVersion: version, payload };
}

/** A key as the administration API lists it. */
export interface TokenKeyView {
  readonly kid: string;
  /** `next`: published, does not sign yet. `signing`. `accepted`: signs no more, what it signed is still good. */
  readonly state: 'next' | 'signing' | 'accepted';
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  readonly signsFromUTCDate: string;
}

/** @param keys those that are not withdrawn */
export function showTokenKeys(keys: readonly TokenKey[], now: Date): TokenKeyView[] {
  const signing = signingKeyAt(keys, now);
  return keys.map((key) => ({
    kid: key.kid,
    state: key.signsFrom > now ? 'next' : key.kid === signing?.kid ? 'signing' : 'accepted',
    createdUTCDate: key.createdAt.toISOString(),
    signsFromUTCDate: key.signsFrom.toISOString(),
  }));
}

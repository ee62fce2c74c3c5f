/** A key pair for card data (P8), without its private half. */
export interface CardKey {
  readonly kid: string;
  readonly createdAt: Date;
  /** When a newer key took its place; null for the current one. */
  readonly replacedAt: Date | null;
}

/**
 * How long a key still opens cards after a newer one took its place. A page holds its key until its session expires (30 min),
 * clients and caches for a minute, and the gateway until the event of the newer key arrives.
 */
export const CARD_KEY_OVERLAP_MS = 24 * 60 * 60_000;

/** Keys that open cards at the same time, the current one included. */
export const MAX_OPENING_CARD_KEYS = 10;

export function opensCards({ replacedAt }: Pick<CardKey, 'replacedAt'>, now: Date): boolean {
  return replacedAt === null || replacedAt > overlapBegan(now);
}

/** Keys that were replaced at this time or before open no card any more. */
export function overlapBegan(now: Date): Date {
  return new Date(now.getTime() - CARD_KEY_OVERLAP_MS);
}

/** A key as the administration API shows it. */
export interface CardKeyView {
  readonly kid: string;
  /** `current`: handed out. `accepted`: cards that were encrypted to it still open. `retired`: they do not. */
  readonly state: 'current' | 'accepted' | 'retired';
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  /** Absent for the current one. */
  readonly opensUntilUTCDate?: string;
}

export function toCardKeyView(key: CardKey, now: Date): CardKeyView {
  const { kid, createdAt, replacedAt } = key;
  const shown = { kid, createdUTCDate: createdAt.toISOString() };
  if (replacedAt === null) return { ...shown, state: 'current' };
  const opensUntil = new Date(replacedAt.getTime() + CARD_KEY_OVERLAP_MS);
  return {
    ...shown,
    state: opensCards(key, now) ? 'accepted' : 'retired',
    opensUntilUTCDate: opensUntil.toISOString(),
  };
}

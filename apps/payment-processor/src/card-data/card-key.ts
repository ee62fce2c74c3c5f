/** Metadata of a key pair for card data (P8). */
export interface CardKey {
  readonly kid: string;
  readonly createdAt: Date;
  /** When a newer key replaced this key; null for the current key. */
  readonly replacedAt: Date | null;
}

/**
 * A replaced key still decrypts cards for this time, because copies of the old public key remain in use. A page uses
 * its copy until its session expires (30 min). Clients and caches use their copies for a minute. The gateway uses its
 * copy until it receives the event with the newer key.
 */
export const CARD_KEY_OVERLAP_MS = 24 * 60 * 60_000;

/** Limit of keys that can decrypt cards at the same time, including the current one. */
export const MAX_ACCEPTED_CARD_KEYS = 10;

export function canDecryptCards({ replacedAt }: Pick<CardKey, 'replacedAt'>, now: Date): boolean {
  return replacedAt === null || replacedAt > overlapStart(now);
}

/** Start of the overlap: keys that were replaced at this time or before can no longer decrypt cards. */
export function overlapStart(now: Date): Date {
  return new Date(now.getTime() - CARD_KEY_OVERLAP_MS);
}

/** A key as the administration API shows it. */
export interface CardKeyView {
  readonly kid: string;
  /**
   * `current`: new cards are encrypted with this key. `accepted`: cards that were encrypted with this key are still
   * accepted. `retired`: such cards are rejected.
   */
  readonly state: 'current' | 'accepted' | 'retired';
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  /** Absent for the current key. */
  readonly opensUntilUTCDate?: string;
}

export function toCardKeyView(key: CardKey, now: Date): CardKeyView {
  const { kid, createdAt, replacedAt } = key;
  const view = { kid, createdUTCDate: createdAt.toISOString() };
  if (replacedAt === null) return { ...view, state: 'current' };
  const opensUntil = new Date(replacedAt.getTime() + CARD_KEY_OVERLAP_MS);
  return {
    ...view,
    state: canDecryptCards(key, now) ? 'accepted' : 'retired',
    opensUntilUTCDate: opensUntil.toISOString(),
  };
}

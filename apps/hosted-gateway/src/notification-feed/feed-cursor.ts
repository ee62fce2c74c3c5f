/** Position of a reader in the feed: after all rows of earlier transactions, and after `position` within this one. */
export interface FeedCursor {
  /** PostgreSQL's xid8 as text, because it needs more than 53 bits. */
  readonly txid: string;
  readonly position: number;
}

export const START_CURSOR: FeedCursor = { txid: '0', position: 0 };

const MAX_TXID = 2n ** 64n - 1n;

/** Opaque to merchants: its format may change, so they store it and do not parse it. */
export function encodeCursor({ txid, position }: FeedCursor): string {
  return Buffer.from(`1.${txid}.${position}`, 'latin1').toString('base64url');
}

/** Undefined if the text is not a valid cursor. */
export function decodeCursor(text: string): FeedCursor | undefined {
  if (!/^[\w-]{1,60}$/.test(text)) return undefined;
  const parts = /^1\.(\d{1,20})\.(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (!parts || BigInt(parts[1]!) > MAX_TXID) return undefined;
  const cursor = { txid: parts[1]!, position: Number(parts[2]) };
  // Several base64url texts decode to the same bytes: accept only the canonical one.
  return encodeCursor(cursor) === text ? cursor : undefined;
}

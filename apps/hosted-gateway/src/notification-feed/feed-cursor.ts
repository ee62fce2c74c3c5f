/**
 * Position of a reader in the feed: after all rows of transactions before `txid`, and after the row `position` of
 * transaction `txid`.
 */
export interface FeedCursor {
  /** PostgreSQL's xid8 as text, because it needs more than 53 bits. */
  readonly txid: string;
  readonly position: number;
}

export const START_CURSOR: FeedCursor = { txid: '0', position: 0 };

const MAX_TXID = 2n ** 64n - 1n;

/** Encodes a cursor as text. Merchants must store it without parsing it, because the format may change. */
export function encodeCursor({ txid, position }: FeedCursor): string {
  return Buffer.from(`1.${txid}.${position}`, 'latin1').toString('base64url');
}

/** Undefined if the text is not a valid cursor. */
export function decodeCursor(text: string): FeedCursor | undefined {
  if (!/^[\w-]{1,60}$/.test(text)) return undefined;
  const match = /^1\.(\d{1,20})\.(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (!match || BigInt(match[1]!) > MAX_TXID) return undefined;
  const cursor = { txid: match[1]!, position: Number(match[2]) };
  // Several base64url texts decode to the same bytes: accept only the canonical text.
  return encodeCursor(cursor) === text ? cursor : undefined;
}

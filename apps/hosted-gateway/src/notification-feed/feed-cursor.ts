/** Where a reader of the feed stands: after everything of earlier transactions, and of this one up to a position. */
export interface FeedCursor {
  /** PostgreSQL's xid8, as text: it needs more than 53 bits. */
  readonly txid: string;
  readonly position: number;
}

export const BEGINNING: FeedCursor = { txid: '0', position: 0 };

const TXID_MAX = 2n ** 64n - 1n;

/** Opaque to merchants: what it is made of may change, so they keep it and do not read it. */
export function writeCursor({ txid, position }: FeedCursor): string {
  return Buffer.from(`1.${txid}.${position}`, 'latin1').toString('base64url');
}

/** Undefined where the text is none of ours. */
export function readCursor(text: string): FeedCursor | undefined {
  if (!/^[\w-]{1,60}$/.test(text)) return undefined;
  const parts = /^1\.(\d{1,20})\.(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  if (!parts || BigInt(parts[1]!) > TXID_MAX) return undefined;
  const cursor = { txid: parts[1]!, position: Number(parts[2]) };
  // Several texts decode to the same bytes; only the one that was handed out is taken.
  return writeCursor(cursor) === text ? cursor : undefined;
}

/**
 * A position in the log. Positions are ordered by `txid`, the transaction that wrote the event, and then by `position`.
 */
export interface LogPosition {
  readonly txid: string;
  readonly position: number;
}

/**
 * Divides the log into the events that were read and the events that were not: everything up to the position was read,
 * except the events of the transactions in `openTxids`. These transactions began before the position and were open at
 * the time of the read, so their events are read when they have committed.
 */
export interface LogCursor extends LogPosition {
  readonly openTxids: readonly string[];
}

/** Event types that a target refuses, each with the cursor up to which the target has received its events. */
export type HeldTypes = Readonly<Record<string, LogCursor>>;

/** Cursor of a target. For the events of held types, their own cursors count. */
export interface TargetCursor extends LogCursor {
  readonly held: HeldTypes;
}

export const LOG_BEGINNING: TargetCursor = { txid: '0', position: 0, openTxids: [], held: {} };

/** The cursor from which a target is read that has received all that each of these cursors has passed, and no more. */
export function joinCursors(cursors: readonly TargetCursor[]): TargetCursor {
  const slowest = earliest(cursors);
  const types = new Set(cursors.flatMap(({ held }) => Object.keys(held)));
  const ofTypes = [...types].map((type) => [type, earliest(cursors.map((each) => each.held[type] ?? each))] as const);
  const held = ofTypes.filter(([, cursor]) => isBefore(cursor, slowest));
  // The other types are not held: their events after the position of the slowest cursor are read with all others.
  const notHeld = ofTypes.filter(([, cursor]) => !isBefore(cursor, slowest));
  return { ...earliest([...cursors, ...notHeld.map(([, cursor]) => cursor)]), held: Object.fromEntries(held) };
}

/** The first position, without the events that are missing before any of the cursors. */
export function earliest(cursors: readonly LogCursor[]): LogCursor {
  const { txid, position } = cursors.reduce((first, next) => (isBefore(next, first) ? next : first));
  const openTxids = new Set(cursors.flatMap((cursor) => cursor.openTxids));
  return { txid, position, openTxids: [...openTxids].filter((open) => BigInt(open) <= BigInt(txid)) };
}

function isBefore(a: LogPosition, b: LogPosition): boolean {
  return a.txid === b.txid ? a.position < b.position : BigInt(a.txid) < BigInt(b.txid);
}

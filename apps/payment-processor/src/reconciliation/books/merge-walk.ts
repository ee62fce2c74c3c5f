import type { BookLine, LineFields } from '@svc/contracts';

/** Difference between a row of a book and the payments, refunds and attempts. */
export type DifferenceKind = 'missing' | 'unexpected' | 'differs';

/** A difference between two rows, or a row that only one side has. */
export interface Difference {
  readonly key: string;
  readonly kind: DifferenceKind;
  /** For `differs` the first different member; null for the other kinds. */
  readonly field: string | null;
  /** The value according to the payments; null if they have no such row. */
  readonly expected: unknown;
  /** The value in the book; null if it has no such row. */
  readonly found: unknown;
}

/** The lines of one side, ordered by key. */
export type Lines = AsyncIterable<BookLine>;

/**
 * Merges both sides in the order of their keys, reads each page once, and yields the differences. Skips a row that is open on
 * either side: it is not final, or has become final only a moment ago.
 */
export async function* differencesBetween(expected: Lines, found: Lines): AsyncGenerator<Difference> {
  const [left, right] = [expected[Symbol.asyncIterator](), found[Symbol.asyncIterator]()];
  let [ours, theirs] = await Promise.all([left.next(), right.next()]);
  while (ours.done !== true || theirs.done !== true) {
    const order = compareKeys(
      ours.done === true ? undefined : ours.value,
      theirs.done === true ? undefined : theirs.value,
    );
    const difference = differenceOf(order <= 0 ? lineOf(ours) : undefined, order >= 0 ? lineOf(theirs) : undefined);
    if (difference) yield difference;
    if (order <= 0) ours = await left.next();
    if (order >= 0) theirs = await right.next();
  }
}

function lineOf(result: IteratorResult<BookLine, unknown>): BookLine | undefined {
  return result.done === true ? undefined : result.value;
}

/** A finished side sorts last. Keys are ordered by their bytes in both databases. */
function compareKeys(ours: BookLine | undefined, theirs: BookLine | undefined): number {
  if (!ours) return 1;
  if (!theirs) return -1;
  return Buffer.compare(Buffer.from(ours.key), Buffer.from(theirs.key));
}

function differenceOf(ours: BookLine | undefined, theirs: BookLine | undefined): Difference | undefined {
  const key = (ours ?? theirs)!.key;
  if (ours?.open || (theirs?.open && theirs.line === null)) return undefined;
  if (!theirs?.line)
    return ours?.line ? { key, kind: 'missing', field: null, expected: ours.line, found: null } : undefined;
  if (!ours?.line) return { key, kind: 'unexpected', field: null, expected: null, found: theirs.line };
  const field = firstDifferentField(ours.line, theirs.line);
  if (field === undefined) return undefined;
  return { key, kind: 'differs', field, expected: ours.line[field] ?? null, found: theirs.line[field] ?? null };
}

/** The first by name, so that the result is deterministic. */
function firstDifferentField(ours: LineFields, theirs: LineFields): string | undefined {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].toSorted();
  return names.find((name) => canonical(ours[name]) !== canonical(theirs[name]));
}

/** The same text for equal values, independent of the order of members. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

import type { BookLine, LineFields } from '@svc/contracts';

/** Kind of a difference between a book and the rows that are expected from payments, refunds and attempts. */
type DifferenceKind = 'missing' | 'unexpected' | 'differs';

/** A difference between two rows, or a row that only one side has. */
export interface Difference {
  readonly key: string;
  readonly kind: DifferenceKind;
  /** For `differs` the first different member; null for the other kinds. */
  readonly field: string | null;
  /** The value according to the payments; null if the payments have no such row. */
  readonly expected: unknown;
  /** The value in the book; null if the book has no such row. */
  readonly found: unknown;
}

/** The lines of a book, ordered by key. */
type Lines = AsyncIterable<BookLine>;

/**
 * Reads the expected and the found lines in parallel in the order of their keys (a merge join), and yields the
 * differences. Skips a row that is open in the payments: it is not final, or became final only a moment ago. Also skips
 * a row that is not final in the book.
 */
export async function* differencesBetween(expected: Lines, found: Lines): AsyncGenerator<Difference> {
  const [expectedLines, foundLines] = [expected[Symbol.asyncIterator](), found[Symbol.asyncIterator]()];
  let [expectedLine, foundLine] = await Promise.all([expectedLines.next(), foundLines.next()]);
  while (expectedLine.done !== true || foundLine.done !== true) {
    const order = compareKeys(lineFromResult(expectedLine), lineFromResult(foundLine));
    const difference = compareLines(
      order <= 0 ? lineFromResult(expectedLine) : undefined,
      order >= 0 ? lineFromResult(foundLine) : undefined,
    );
    if (difference) yield difference;
    if (order <= 0) expectedLine = await expectedLines.next();
    if (order >= 0) foundLine = await foundLines.next();
  }
}

function lineFromResult(result: IteratorResult<BookLine, unknown>): BookLine | undefined {
  return result.done === true ? undefined : result.value;
}

/** Compares two keys by their bytes, as both databases order them. A missing line (no more lines) comes last. */
function compareKeys(expectedLine: BookLine | undefined, foundLine: BookLine | undefined): number {
  if (!expectedLine) return 1;
  if (!foundLine) return -1;
  return Buffer.compare(Buffer.from(expectedLine.key), Buffer.from(foundLine.key));
}

function compareLines(expectedLine: BookLine | undefined, foundLine: BookLine | undefined): Difference | undefined {
  const key = (expectedLine ?? foundLine)!.key;
  if (expectedLine?.open || (foundLine?.open && foundLine.line === null)) return undefined;
  if (!foundLine?.line)
    return expectedLine?.line
      ? { key, kind: 'missing', field: null, expected: expectedLine.line, found: null }
      : undefined;
  if (!expectedLine?.line) return { key, kind: 'unexpected', field: null, expected: null, found: foundLine.line };
  const field = firstDifferentField(expectedLine.line, foundLine.line);
  if (field === undefined) return undefined;
  return {
    key,
    kind: 'differs',
    field,
    expected: expectedLine.line[field] ?? null,
    found: foundLine.line[field] ?? null,
  };
}

/** The first different field in the order of the names, so that the result is deterministic. */
function firstDifferentField(expectedLine: LineFields, foundLine: LineFields): string | undefined {
  const names = [...new Set([...Object.keys(expectedLine), ...Object.keys(foundLine)])].toSorted();
  return names.find((name) => canonical(expectedLine[name]) !== canonical(foundLine[name]));
}

/** JSON text that is the same for equal values, independently of the order of members. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

import {
  type BookDigest,
  type BookOwner,
  type BookRange,
  type DigestPage,
  MAX_DIGESTS,
  type Mode,
} from '@svc/contracts';
import { type BookName, type Comparison, linesOf, type Side } from './books.js';
import { type Difference, differencesBetween } from './merge-walk.js';

/** A difference and its book. */
export interface BookDifference extends Difference {
  readonly book: BookName | 'payments';
  readonly merchantId: number;
  readonly mode: Mode;
}

/** The comparison of a book in a range. */
export interface BookComparison {
  /** False when the book has removed rows of the range. */
  readonly isRetained: boolean;
  readonly differences: readonly BookDifference[];
  /** The book's digests, for its count of open rows. */
  readonly digests: readonly BookDigest[];
}

/** Limit of named differences for a merchant, mode, book and range; further differences are not counted. */
export const MAX_DIFFERENCES_PER_MERCHANT = 20;
/** After this many differences of a book and range, lines are no longer compared; differing digests are still reported. */
const MAX_DIFFERENCES = 1_000;

/**
 * Compares the digests of both sides, and the lines of merchants whose digests differ.
 *
 * @param isOfDay false for a range that must be empty: there the retention of the book does not matter
 */
export async function compareBook(
  { name, expected, found }: Comparison,
  range: BookRange,
  merchantId: number | undefined,
  isOfDay: boolean,
): Promise<BookComparison> {
  const theirs = await allDigests(found, range, merchantId);
  if (isOfDay && theirs.keptSince !== undefined && theirs.keptSince > range.from)
    return { isRetained: false, differences: [], digests: [] };
  const ours = await allDigests(expected, range, merchantId);
  const differences: BookDifference[] = [];
  for (const owner of ownersThatDiffer(ours.digests, theirs.digests)) {
    const of = { book: name, merchantId: owner.merchantId, mode: owner.mode };
    if (differences.length >= MAX_DIFFERENCES) {
      differences.push({ ...of, key: range.from, kind: 'differs', field: 'digest', expected: null, found: null });
      continue;
    }
    let ofOwner = 0;
    for await (const difference of differencesBetween(linesOf(expected, range, owner), linesOf(found, range, owner))) {
      differences.push({ ...of, ...difference });
      if (++ofOwner === MAX_DIFFERENCES_PER_MERCHANT) break;
    }
  }
  return { isRetained: true, differences, digests: theirs.digests };
}

async function allDigests(side: Side, range: BookRange, merchantId: number | undefined): Promise<DigestPage> {
  const digests: BookDigest[] = [];
  for (let after: BookOwner | undefined; ;) {
    const page = await side.digests(range, { merchantId, after });
    digests.push(...page.digests);
    if (page.digests.length < MAX_DIGESTS) return { ...page, digests };
    const { merchantId: lastMerchant, mode } = page.digests.at(-1)!;
    after = { merchantId: lastMerchant, mode };
  }
}

/** A missing digest equals a digest without final rows. */
function ownersThatDiffer(ours: readonly BookDigest[], theirs: readonly BookDigest[]): BookOwner[] {
  const nameOf = ({ merchantId, mode }: BookOwner): string => `${merchantId} ${mode}`;
  const [expected, found] = [ours, theirs].map((digests) => new Map(digests.map((digest) => [nameOf(digest), digest])));
  const owners = new Map([...ours, ...theirs].map((digest) => [nameOf(digest), digest]));
  const contentOf = (digest: BookDigest | undefined): string => `${digest?.count ?? 0} ${digest?.hash ?? 0}`;
  return [...owners]
    .filter(([name]) => contentOf(expected!.get(name)) !== contentOf(found!.get(name)))
    .map(([, { merchantId, mode }]) => ({ merchantId, mode }));
}

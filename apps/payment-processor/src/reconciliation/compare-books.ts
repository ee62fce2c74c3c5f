import {
  type BookDigest,
  type BookOwner,
  type BookRange,
  type DigestPage,
  DIGESTS_MAX,
  type Mode,
} from '@svc/contracts';
import { type BookName, type Comparison, linesOf, type Side } from './books.js';
import { type Difference, differencesBetween } from './merge-walk.js';

/** A difference, and in which book. */
export interface BookDifference extends Difference {
  readonly book: BookName | 'payments';
  readonly merchantId: number;
  readonly mode: Mode;
}

/** The comparison of a book in a range. */
export interface BookComparison {
  /** Whether the book still has the rows of the range. */
  readonly isRetained: boolean;
  readonly differences: readonly BookDifference[];
  /** As the book has them, for what it has of its own: rows that are not handed over. */
  readonly digests: readonly BookDigest[];
}

/** A walk names this many differences of a merchant, mode, book and range; how many more there are is not counted. */
export const MAX_DIFFERENCES_PER_MERCHANT = 20;
/** With so many of a book and range no more lines are walked; that a merchant's digests differ is still said. */
const WALKED_MAX = 1_000;

/**
 * Compares digests of both sides, and walks the lines of those merchants whose digests differ.
 *
 * @param isOfDay false for a range that must be empty: there it does not matter since when a book keeps its rows
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
    if (differences.length >= WALKED_MAX) {
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
    if (page.digests.length < DIGESTS_MAX) return { ...page, digests };
    const { merchantId: lastMerchant, mode } = page.digests.at(-1)!;
    after = { merchantId: lastMerchant, mode };
  }
}

/** Where one side has nothing, the other has to have nothing that is final. */
function ownersThatDiffer(ours: readonly BookDigest[], theirs: readonly BookDigest[]): BookOwner[] {
  const nameOf = ({ merchantId, mode }: BookOwner): string => `${merchantId} ${mode}`;
  const [expected, found] = [ours, theirs].map((digests) => new Map(digests.map((digest) => [nameOf(digest), digest])));
  const owners = new Map([...ours, ...theirs].map((digest) => [nameOf(digest), digest]));
  const contentOf = (digest: BookDigest | undefined): string => `${digest?.count ?? 0} ${digest?.hash ?? 0}`;
  return [...owners]
    .filter(([name]) => contentOf(expected!.get(name)) !== contentOf(found!.get(name)))
    .map(([, { merchantId, mode }]) => ({ merchantId, mode }));
}

import {
  type BookDigest,
  type BookOwner,
  type BookRange,
  type DigestPage,
  MAX_DIGESTS,
  type Mode,
} from '@svc/contracts';
import { type BookName, type BookSource, type Comparison, readLines } from './books.js';
import { type Difference, differencesBetween } from './merge-walk.js';

/** A difference and its book. */
export interface BookDifference extends Difference {
  readonly book: BookName | 'payments';
  readonly merchantId: number;
  readonly mode: Mode;
}

/** The comparison of a book in a range. */
export interface BookComparison {
  /** False when the book has already deleted rows of the range. */
  readonly isRetained: boolean;
  readonly differences: readonly BookDifference[];
  /** The book's digests, for its count of open rows. */
  readonly digests: readonly BookDigest[];
}

/** Limit of reported differences for a merchant, mode, book and range. Further differences are not counted. */
export const MAX_DIFFERENCES_PER_MERCHANT = 20;
/**
 * After this number of differences of a book and range, lines are no longer compared. Differing digests are still
 * reported.
 */
const MAX_DIFFERENCES = 1_000;

/**
 * Compares the digests of the expected and the found book, and then the lines of merchants whose digests differ.
 *
 * @param isOfDay false for a range that must be empty; such a range is compared even if the book has deleted older rows
 */
export async function compareBook(
  { name, expected, found }: Comparison,
  range: BookRange,
  merchantId: number | undefined,
  isOfDay: boolean,
): Promise<BookComparison> {
  const foundPage = await readAllDigests(found, range, merchantId);
  if (isOfDay && foundPage.keptSince !== undefined && foundPage.keptSince > range.from)
    return { isRetained: false, differences: [], digests: [] };
  const expectedPage = await readAllDigests(expected, range, merchantId);
  const differences: BookDifference[] = [];
  for (const owner of findDifferingOwners(expectedPage.digests, foundPage.digests)) {
    const ownerFields = { book: name, merchantId: owner.merchantId, mode: owner.mode };
    if (differences.length >= MAX_DIFFERENCES) {
      differences.push({
        ...ownerFields,
        key: range.from,
        kind: 'differs',
        field: 'digest',
        expected: null,
        found: null,
      });
      continue;
    }
    let countOfOwner = 0;
    for await (const difference of differencesBetween(
      readLines(expected, range, owner),
      readLines(found, range, owner),
    )) {
      differences.push({ ...ownerFields, ...difference });
      if (++countOfOwner === MAX_DIFFERENCES_PER_MERCHANT) break;
    }
  }
  return { isRetained: true, differences, digests: foundPage.digests };
}

async function readAllDigests(
  source: BookSource,
  range: BookRange,
  merchantId: number | undefined,
): Promise<DigestPage> {
  const digests: BookDigest[] = [];
  for (let after: BookOwner | undefined; ;) {
    const page = await source.digests(range, { merchantId, after });
    digests.push(...page.digests);
    if (page.digests.length < MAX_DIGESTS) return { ...page, digests };
    const { merchantId: lastMerchant, mode } = page.digests.at(-1)!;
    after = { merchantId: lastMerchant, mode };
  }
}

/** Merchants and modes whose digests differ. A missing digest equals a digest without final rows. */
function findDifferingOwners(expectedDigests: readonly BookDigest[], foundDigests: readonly BookDigest[]): BookOwner[] {
  const buildOwnerKey = ({ merchantId, mode }: BookOwner): string => `${merchantId} ${mode}`;
  const [expected, found] = [expectedDigests, foundDigests].map(
    (digests) => new Map(digests.map((digest) => [buildOwnerKey(digest), digest])),
  );
  const owners = new Map([...expectedDigests, ...foundDigests].map((digest) => [buildOwnerKey(digest), digest]));
  const digestContent = (digest: BookDigest | undefined): string => `${digest?.count ?? 0} ${digest?.hash ?? 0}`;
  return [...owners]
    .filter(([ownerKey]) => digestContent(expected!.get(ownerKey)) !== digestContent(found!.get(ownerKey)))
    .map(([, { merchantId, mode }]) => ({ merchantId, mode }));
}

import { type BookDigest, type BookLine, MAX_DIGESTS } from '@svc/contracts';
import type { BookSource } from './books.js';
import { compareBook, MAX_DIFFERENCES_PER_MERCHANT } from './compare-books.js';

const RANGE = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-01T01:00:00.000Z' };

/** A book source with this number of lines for each merchant id. */
function buildSource(lines: Readonly<Record<number, number>>, keptSince?: string): BookSource {
  const digests = Object.entries(lines).map(([merchantId, count]): BookDigest => {
    return { merchantId: Number(merchantId), mode: 'test', count, amount: count, hash: String(count), open: 0 };
  });
  return {
    digests: () => Promise.resolve({ digests, ...(keptSince === undefined ? {} : { keptSince }) }),
    lines: (_, { merchantId }) => {
      const merchantLines = Array.from({ length: lines[merchantId] ?? 0 }, (__, nth): BookLine => {
        return { key: String(nth).padStart(6, '0'), open: false, line: {} };
      });
      return Promise.resolve({ lines: merchantLines });
    },
  };
}
/** `isOfDay` is false for a range of time that must be empty in every book, for example in the future. */
const compareSources = (expected: BookSource, found: BookSource, isOfDay = true) =>
  compareBook({ name: 'ledger', expected, found }, RANGE, undefined, isOfDay);

test('the result contains at most MAX_DIFFERENCES_PER_MERCHANT differences of a merchant, and at least one of each merchant that differs', async () => {
  const { differences } = await compareSources(buildSource({ 1: 25, 2: 1, 3: 7 }), buildSource({ 3: 7 }));
  const countFor = (merchantId: number) =>
    differences.filter((difference) => difference.merchantId === merchantId).length;
  expect([countFor(1), countFor(2), countFor(3)]).toEqual([MAX_DIFFERENCES_PER_MERCHANT, 1, 0]);
});

test('after a thousand differences, the result contains only one difference of the digest for each further merchant', async () => {
  const linesOfMerchants = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [nth + 1, 30]));
  const { differences } = await compareSources(buildSource(linesOfMerchants), buildSource({}));
  expect(new Set(differences.map(({ merchantId }) => merchantId)).size).toBe(60);
  // The lines of 50 merchants lead to 20 differences each.
  const digestDifference = { book: 'ledger', mode: 'test', key: RANGE.from, kind: 'differs', field: 'digest' };
  expect(differences.slice(1_000)).toEqual(
    Array.from({ length: 10 }, (_, nth) => ({
      ...digestDifference,
      merchantId: 51 + nth,
      expected: null,
      found: null,
    })),
  );
});

test('a book that has deleted rows of a day is not compared for that day; a range that must be empty is still compared', async () => {
  const found = buildSource({ 1: 1 }, '2026-03-01T00:30:00.000Z');
  expect(await compareSources(buildSource({}), found)).toEqual({ isRetained: false, differences: [], digests: [] });
  expect(await compareSources(buildSource({}), found, false)).toMatchObject({
    isRetained: true,
    differences: [{ merchantId: 1 }],
  });
});

test.each(['2026-02-28T23:59:59.999Z', RANGE.from])(
  'a book that has kept all rows since %s is compared for a range that begins at 2026-03-01T00:00:00.000Z',
  async (keptSince) => {
    expect(await compareSources(buildSource({}), buildSource({ 1: 1 }, keptSince))).toMatchObject({
      isRetained: true,
      differences: [{ merchantId: 1 }],
    });
  },
);

test('lines are read only for merchants whose digests differ', async () => {
  const sources = [buildSource({ 1: 2, 2: 5 }), buildSource({ 1: 2, 2: 6 })] as const;
  const readsOfLines = sources.map((source) => jest.spyOn(source, 'lines'));
  expect((await compareSources(...sources)).differences).toMatchObject([{ merchantId: 2 }]);
  const merchantIds = readsOfLines.flatMap(({ mock }) => mock.calls.map(([, owner]) => owner.merchantId));
  expect(merchantIds).toEqual([2, 2]);
});

test('digests are read page by page: each request contains the merchant, and the last owner of the page before', async () => {
  const digests = Array.from({ length: MAX_DIGESTS + 1 }, (_, nth): BookDigest => {
    return { merchantId: 1001 + nth, mode: 'live', count: 1, amount: 1, hash: '1', open: 0 };
  });
  const found = buildSource({});
  const readDigests = jest.spyOn(found, 'digests').mockImplementation((_, { after }) =>
    Promise.resolve({
      digests: digests.filter(({ merchantId }) => merchantId > (after?.merchantId ?? 0)).slice(0, MAX_DIGESTS),
    }),
  );
  const result = await compareBook({ name: 'ledger', expected: buildSource({}), found }, RANGE, 7, true);
  expect(result.digests).toEqual(digests);
  const last = { merchantId: 1001 + MAX_DIGESTS - 1, mode: 'live' };
  expect(readDigests.mock.calls).toEqual([
    [RANGE, { merchantId: 7, after: undefined }],
    [RANGE, { merchantId: 7, after: last }],
  ]);
});

test.each<[string, Partial<BookDigest>, boolean]>([
  ['another hash', { hash: '2' }, true],
  ['another count', { count: 2 }, true],
  ['another mode', { mode: 'live' }, true],
  ['another number of open rows', { open: 3 }, false],
])('a digest with %s (%j) is compared by its lines: %p', async (_, change, isCompared) => {
  const found = buildSource({ 1: 1 });
  const { digests } = await found.digests(RANGE, { merchantId: undefined, after: undefined });
  jest.spyOn(found, 'digests').mockResolvedValue({ digests: digests.map((digest) => ({ ...digest, ...change })) });
  const readLines = jest.spyOn(found, 'lines');
  await compareSources(buildSource({ 1: 1 }), found);
  expect(readLines.mock.calls.length > 0).toBe(isCompared);
});

test('a missing digest equals a digest without final rows', async () => {
  const found = buildSource({ 1: 1 });
  const openRows = { merchantId: 1, mode: 'test', count: 0, amount: 0, hash: '0', open: 2 } as const;
  jest.spyOn(found, 'digests').mockResolvedValue({ digests: [openRows] });
  expect(await compareSources(buildSource({}), found)).toEqual({
    isRetained: true,
    differences: [],
    digests: [openRows],
  });
});

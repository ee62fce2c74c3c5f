import type { BookDigest, BookLine } from '@svc/contracts';
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
  expect(differences.at(-1)).toMatchObject({ merchantId: 60, field: 'digest' });
});

test('a book that has deleted rows of a day is not compared for that day; a range that must be empty is still compared', async () => {
  const found = buildSource({ 1: 1 }, '2026-03-01T00:30:00.000Z');
  expect(await compareSources(buildSource({}), found)).toMatchObject({ isRetained: false, differences: [] });
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

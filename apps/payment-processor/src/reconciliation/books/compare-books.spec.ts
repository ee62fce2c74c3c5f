import type { BookDigest, BookLine } from '@svc/contracts';
import type { Side } from './books.js';
import { compareBook, MAX_DIFFERENCES_PER_MERCHANT } from './compare-books.js';

const RANGE = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-01T01:00:00.000Z' };

/** A side with so many lines for each merchant. */
function sideOf(lines: Readonly<Record<number, number>>, keptSince?: string): Side {
  const digests = Object.entries(lines).map(([merchantId, count]): BookDigest => {
    return { merchantId: Number(merchantId), mode: 'test', count, amount: count, hash: String(count), open: 0 };
  });
  return {
    digests: () => Promise.resolve({ digests, ...(keptSince === undefined ? {} : { keptSince }) }),
    lines: (_, { merchantId }) => {
      const all = Array.from({ length: lines[merchantId] ?? 0 }, (__, nth): BookLine => {
        return { key: String(nth).padStart(6, '0'), open: false, line: {} };
      });
      return Promise.resolve({ lines: all });
    },
  };
}
const compare = (expected: Side, found: Side, isOfDay = true) =>
  compareBook({ name: 'ledger', expected, found }, RANGE, undefined, isOfDay);

test('the result has a limited number of differences of each merchant, and at least one of every merchant', async () => {
  const { differences } = await compare(sideOf({ 1: 25, 2: 1, 3: 7 }), sideOf({ 3: 7 }));
  const of = (merchantId: number) => differences.filter((each) => each.merchantId === merchantId).length;
  expect([of(1), of(2), of(3)]).toEqual([MAX_DIFFERENCES_PER_MERCHANT, 1, 0]);
});

test('with thousands of differences, the result contains the last merchants without their rows', async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [nth + 1, 30]));
  const { differences } = await compare(sideOf(many), sideOf({}));
  expect(new Set(differences.map(({ merchantId }) => merchantId)).size).toBe(60);
  expect(differences.at(-1)).toMatchObject({ merchantId: 60, field: 'digest' });
});

test('a book that has deleted older rows is not compared for a day, only for ranges that must be empty', async () => {
  const found = sideOf({ 1: 1 }, '2026-03-01T00:30:00.000Z');
  expect(await compare(sideOf({}), found)).toMatchObject({ isRetained: false, differences: [] });
  expect(await compare(sideOf({}), found, false)).toMatchObject({ isRetained: true, differences: [{ merchantId: 1 }] });
});

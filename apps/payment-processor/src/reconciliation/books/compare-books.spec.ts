import type { BookDigest, BookLine } from '@svc/contracts';
import type { Side } from './books.js';
import { compareBook, DIFFERENCES_MAX } from './compare-books.js';

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

test('of each merchant so many differences are named, and of every merchant at least one', async () => {
  const { differences } = await compare(sideOf({ 1: 25, 2: 1, 3: 7 }), sideOf({ 3: 7 }));
  const of = (merchantId: number) => differences.filter((each) => each.merchantId === merchantId).length;
  expect([of(1), of(2), of(3)]).toEqual([DIFFERENCES_MAX, 1, 0]);
});

test('where thousands differ, the last merchants are named without their rows', async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [nth + 1, 30]));
  const { differences } = await compare(sideOf(many), sideOf({}));
  expect(new Set(differences.map(({ merchantId }) => merchantId)).size).toBe(60);
  expect(differences.at(-1)).toMatchObject({ merchantId: 60, field: 'digest' });
});

test('a book that has removed older rows is not compared for a day, but must have none where nothing may be', async () => {
  const found = sideOf({ 1: 1 }, '2026-03-01T00:30:00.000Z');
  expect(await compare(sideOf({}), found)).toMatchObject({ isKept: false, differences: [] });
  expect(await compare(sideOf({}), found, false)).toMatchObject({ isKept: true, differences: [{ merchantId: 1 }] });
});

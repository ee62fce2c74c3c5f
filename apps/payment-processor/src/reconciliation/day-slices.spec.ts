import { rangesThatMustBeEmpty, sliceDay } from './day-slices.js';

const LATER = new Date('2026-03-05T00:00:00.000Z');

it('the slices of a day are its 24 hours, without gaps and without the next day', () => {
  const slices = sliceDay('2026-03-01', LATER);
  expect(slices).toHaveLength(24);
  expect([slices[0]!.from, slices.at(-1)!.until]).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z']);
  expect(slices.slice(1).map(({ from }) => from)).toEqual(slices.slice(0, -1).map(({ until }) => until));
});

it('the slices of a day end at the watermark', () => {
  expect(sliceDay('2026-03-01', new Date('2026-03-01T01:30:00.000Z'))).toEqual([
    { from: '2026-03-01T00:00:00.000Z', until: '2026-03-01T01:00:00.000Z' },
    { from: '2026-03-01T01:00:00.000Z', until: '2026-03-01T01:30:00.000Z' },
  ]);
  expect(sliceDay('2026-03-01', new Date('2026-02-28T23:59:59.000Z'))).toEqual([]);
});

it('the ranges that must be empty are before the start of the platform and more than one day in the future', () => {
  expect(rangesThatMustBeEmpty(LATER)).toEqual([
    { from: '0001-01-01T00:00:00.000Z', until: '2020-01-01T00:00:00.000Z' },
    { from: '2026-03-06T00:00:00.000Z', until: '9999-12-31T00:00:00.000Z' },
  ]);
});

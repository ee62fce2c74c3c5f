import { ManualClock } from '@svc/testing';
import { RecentApprovals } from './recent-approvals.js';

const HALF_HOUR_MS = 1_800_000;
const KEY = 'site:live:5001';

let clock: ManualClock;
let approvals: RecentApprovals;
beforeEach(() => {
  clock = new ManualClock();
  approvals = new RecentApprovals(clock);
});

test('approvals are counted for each key', () => {
  approvals.add([KEY, 'range:live:5001:B']);
  approvals.add([KEY]);
  expect([KEY, 'range:live:5001:B', 'site:live:1'].map((key) => approvals.count(key))).toEqual([2, 1, 0]);
});

test('a decline takes the approvals, so that each is reported once', () => {
  approvals.add([KEY]);
  expect(approvals.take(KEY)).toBe(1);
  expect(approvals.take(KEY)).toBe(0);
  approvals.add([KEY]);
  expect(approvals.count(KEY)).toBe(1);
});

test('an approval counts for at least half an hour, and for less than an hour', () => {
  approvals.add([KEY]);
  clock.advance(HALF_HOUR_MS);
  expect(approvals.count(KEY)).toBe(1);
  approvals.add([KEY]);
  expect(approvals.count(KEY)).toBe(2);
  clock.advance(HALF_HOUR_MS);
  expect(approvals.count(KEY)).toBe(1);
  clock.advance(HALF_HOUR_MS);
  expect(approvals.count(KEY)).toBe(0);
});

test('a jump of the computer’s time changes nothing', () => {
  approvals.add([KEY]);
  clock.jump(10 * HALF_HOUR_MS);
  expect(approvals.count(KEY)).toBe(1);
});

test('the memory is bounded: the keys that were changed longest ago are forgotten', () => {
  approvals.add([KEY, 'site:live:2']);
  for (let site = 1; site <= 49_999; site++) approvals.add([`site:test:${site}`]);
  expect(approvals.count(KEY)).toBe(0);
  expect(approvals.count('site:live:2')).toBe(1);
  expect(approvals.count('site:test:49999')).toBe(1);
});

import { ManualClock } from '@svc/testing';
import { DECLINE_WINDOW_MS, RecentDeclines } from './recent-declines.js';

let clock: ManualClock;
let declines: RecentDeclines;
beforeEach(() => {
  clock = new ManualClock();
  declines = new RecentDeclines(clock);
});

test('a decline counts for ten minutes, in a sliding window', () => {
  declines.add('203.0.113.7');
  clock.advance(DECLINE_WINDOW_MS / 2);
  declines.add('203.0.113.7');
  expect([declines.count('203.0.113.7'), declines.count('203.0.113.8')]).toEqual([2, 0]);
  clock.advance(DECLINE_WINDOW_MS / 2 - 1);
  expect(declines.count('203.0.113.7')).toBe(2);
  clock.advance(1);
  expect(declines.count('203.0.113.7')).toBe(1);
});

test('the addresses of an IPv6 /64 network count as one, and those of two networks do not', () => {
  declines.add('2001:db8:1:2::1');
  declines.add('2001:db8:1:2:ffff::9');
  expect(['2001:db8:1:2::77', '2001:db8:1:3::1', '2001:db8:1::1'].map((ip) => declines.count(ip))).toEqual([2, 0, 0]);
});

test('an IPv4 address is the same in IPv6 notation', () => {
  declines.add('::ffff:203.0.113.7');
  expect(declines.count('203.0.113.7')).toBe(1);
});

test('the memory is bounded: the address without a decline for the longest time is removed first', () => {
  for (let index = 0; index < 10_000; index++) declines.add(`10.0.${index >> 8}.${index & 255}`);
  declines.add('10.0.0.0');
  // Only a decline keeps an address.
  expect(declines.count('10.0.0.1')).toBe(1);
  declines.add('203.0.113.7');
  expect(declines.size).toBe(10_000);
  expect(['10.0.0.0', '10.0.0.1', '203.0.113.7'].map((ip) => declines.count(ip))).toEqual([2, 0, 1]);
  for (let index = 0; index < 100; index++) declines.add('203.0.113.7');
  expect(declines.count('203.0.113.7')).toBe(16);
});

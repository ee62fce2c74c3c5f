import type { DataSource } from 'typeorm';
import { HorizonWatch } from './horizon-watch.js';

const DELAY_MS = 2_000;
let nowMs: number;
let warnings: unknown[];
let query: jest.Mock;
let watch: HorizonWatch;

beforeEach(() => {
  [nowMs, warnings] = [10_000, []];
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  query = jest.fn(() => Promise.resolve([{ pid: 7 }]));
  const log = { info: () => undefined, warn: (fields: object) => void warnings.push(fields), error: () => undefined };
  watch = new HorizonWatch({ query } as unknown as DataSource, log, DELAY_MS);
});
afterEach(() => jest.restoreAllMocks());

const reportAfter = (milliseconds: number): Promise<void> => {
  nowMs += milliseconds;
  return watch.report('target', true);
};

test('the blocking transaction is looked up exactly after the delay, and then again after twice the delay', async () => {
  await reportAfter(0);
  await reportAfter(DELAY_MS - 1);
  expect([query.mock.calls.length, watch.heldBack]).toEqual([0, undefined]);
  await reportAfter(1);
  expect([query.mock.calls.length, watch.heldBack]).toEqual([1, { seconds: 2, holder: { pid: 7 } }]);
  await reportAfter(2 * DELAY_MS - 1);
  expect(query).toHaveBeenCalledTimes(1);
  await reportAfter(1);
  expect(query).toHaveBeenCalledTimes(2);
});

test('each blocking transaction is logged once', async () => {
  await reportAfter(0);
  for (let times = 0; times < 3; times++) await reportAfter(2 * DELAY_MS);
  expect(warnings).toEqual([{ holder: { pid: 7 }, heldMs: 2 * DELAY_MS }]);
  query.mockResolvedValue([{ pid: 8 }]);
  await reportAfter(2 * DELAY_MS);
  expect(warnings.slice(1)).toEqual([{ holder: { pid: 8 }, heldMs: 8 * DELAY_MS }]);
});

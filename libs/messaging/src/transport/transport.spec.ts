import { promisify } from 'node:util';
import { ManualClock } from '@svc/testing';
import type { DataSource } from 'typeorm';
import type { Broker } from '../broker/broker.js';
import { Transport } from './transport.js';

const HOUR_MS = 3_600_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test.each([
  ['records every hour which types it handles, if late subscribers need a replay', true, [0, 0, 1, 1, 2]],
  ['does not record which types it handles, if each subscriber has a cursor in every log', false, [0, 0, 0, 0, 0]],
])('the transport %s', async (_, isRequired, expectedCounts) => {
  const clock = new ManualClock();
  const query = jest.fn((_sql: string) => Promise.resolve([]));
  const subscription = { close: () => Promise.resolve() };
  const broker = { eventReplay: { isRequired }, subscribe: () => Promise.resolve(subscription) };
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const transport = new Transport(
    'history',
    broker as unknown as Broker,
    { query } as unknown as DataSource,
    clock,
    log,
  );
  transport.addHandler('noted.v1', (() => Promise.resolve()) as never, true);
  await promisify(transport.listen.bind(transport))();
  const counts: number[] = [];
  for (const milliseconds of [0, HOUR_MS, 1, HOUR_MS, 1]) {
    clock.advance(milliseconds);
    await jest.advanceTimersByTimeAsync(2_000);
    counts.push(query.mock.calls.filter(([sql]) => sql.startsWith('UPDATE subscribed_types SET renewed_at')).length);
  }
  expect(counts).toEqual(expectedCounts);
  await transport.close();
});

import { randomUUID } from 'node:crypto';
import { type FailedCall, MAX_FAILED_CALLS_PER_REQUEST, RecordFailedCallsV1 } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { planOf } from '@svc/testing';
import { createMerchant, startConsole, type TestConsole, type TestMerchant } from '../../../test/console.js';
import { CALL_RETENTION_MS, CallRetention } from './call-retention.js';
import { listFailedCalls, MAX_CALLS_PER_MERCHANT } from './failed-call.repository.js';

let app: TestConsole;
let merchant: TestMerchant;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
});

const path = (query = '', mode = 'test'): string => `/${merchant.merchantId}/${mode}/developers/calls${query}`;
const newCall = (changes: Partial<FailedCall> = {}): FailedCall => ({
  requestId: randomUUID(),
  merchantId: merchant.merchantId,
  siteId: merchant.sites[0],
  mode: 'test',
  method: 'POST',
  path: '/api/v3.1/sessions',
  statusCode: 422,
  errorCode: 'request.invalid',
  calledUTCDate: app.clock.nowISO(),
  ...changes,
});
const record = (...calls: FailedCall[]): Promise<unknown> =>
  app.service.app.get(Commands).request(RecordFailedCallsV1, { calls });
/** The request ids of a page, in its order. */
const idsOf = (html: string): string[] =>
  [...html.matchAll(/<code>([0-9a-f-]{36})<\/code>/g)].map(([, found]) => found!);
const read = async (role: 'owner' | 'developer', siteId?: number, mode = 'test') =>
  idsOf((await app.signIn([merchant.grant(role, siteId)]).get(path('', mode))).html);

test('a failed call is shown with its time, its path, its error and its request id; a repeat is stored once', async () => {
  const call = newCall({ calledUTCDate: app.clock.nowISO() });
  await record(call);
  await record(call, call);
  const { text, html } = await app.signIn([merchant.grant('developer')]).get(path());
  expect(idsOf(html)).toEqual([call.requestId]);
  expect(text).toContain(`POST /api/v3.1/sessions 422 request.invalid ${call.requestId}`);
});

test('a call of another merchant, mode or site is not shown, and a call without a site only to people of the merchant', async () => {
  const [first, second] = merchant.sites;
  const other = await createMerchant(app);
  const calls = {
    first: newCall(),
    second: newCall({ siteId: second }),
    live: newCall({ mode: 'live' }),
    foreign: newCall({ merchantId: other.merchantId, siteId: other.sites[0] }),
  };
  const { siteId: _, ...withoutSite } = newCall();
  await record(...Object.values(calls), withoutSite);
  const all = [calls.first.requestId, calls.second.requestId, withoutSite.requestId].sort();
  expect((await read('owner')).sort()).toEqual(all);
  expect(await read('developer', first)).toEqual([calls.first.requestId]);
  expect(await read('owner', undefined, 'live')).toEqual([calls.live.requestId]);
});

test('the newest calls of a merchant in a mode are kept, and every page continues the one before', async () => {
  const calls = Array.from({ length: MAX_CALLS_PER_MERCHANT + 20 }, (_, index) =>
    newCall({ calledUTCDate: app.clock.later(index - 10_000).toISOString() }),
  );
  const live = newCall({ mode: 'live', calledUTCDate: app.clock.later(-20_000).toISOString() });
  await record(live);
  for (let start = 0; start < calls.length; start += MAX_FAILED_CALLS_PER_REQUEST)
    await record(...calls.slice(start, start + MAX_FAILED_CALLS_PER_REQUEST));
  const browser = app.signIn([merchant.grant('owner')]);
  const pages: string[][] = [];
  let next: string | undefined = path();
  while (next !== undefined) {
    const { html }: { html: string } = await browser.get(next);
    pages.push(idsOf(html));
    next = /href="([^"]+)">Older</.exec(html)?.[1];
  }
  expect(pages[0]).toHaveLength(50);
  const newest = calls.slice(20).toReversed();
  expect(pages.flat()).toEqual(newest.map(({ requestId }) => requestId));
  expect(await read('owner', undefined, 'live')).toEqual([live.requestId]);
});

test('calls are deleted after three days, and no earlier', async () => {
  const call = newCall();
  await record(call);
  const job = app.service.app.get(CallRetention);
  app.clock.advance(CALL_RETENTION_MS);
  await job.runStep();
  expect(await read('owner')).toEqual([call.requestId]);
  app.clock.advance(1);
  expect(await job.runStep()).toBe(false);
  expect(await read('owner')).toEqual([]);
});

test.each<[string, Partial<FailedCall>]>([
  ['a status of success', { statusCode: 200 }],
  ['an unknown status', { statusCode: 600 }],
  ['a long path', { path: `/${'x'.repeat(300)}` }],
  ['a long method', { method: 'x'.repeat(11) }],
  ['a long code', { errorCode: 'x'.repeat(101) }],
  ['a time in the future', { calledUTCDate: '2999-01-01T00:00:00.000Z' }],
  ['an old time', { calledUTCDate: '2020-01-01T00:00:00.000Z' }],
  ['no time', { calledUTCDate: 'x' }],
])('a call with %s is left out, and the other calls are stored', async (_, changes) => {
  const valid = newCall();
  await record(newCall(changes), valid);
  expect(await read('owner')).toEqual([valid.requestId]);
});

test('more calls than the limit are refused', async () => {
  const calls = Array.from({ length: MAX_FAILED_CALLS_PER_REQUEST + 1 }, () => newCall());
  await expect(record(...calls)).rejects.toMatchObject({ code: 'request.too-large' });
  expect(await read('owner')).toEqual([]);
});

test('a page is read from an index of the merchant', async () => {
  const { dataSource } = app;
  const scope = { merchantId: merchant.merchantId, mode: 'test' as const, sites: 'all' as const };
  const plan = await planOf(dataSource, () => listFailedCalls(dataSource, scope, undefined, 51));
  expect(plan).toMatch(/Index Scan using failed_calls_newest/);
  expect(plan).not.toMatch(/Sort|Seq Scan/);
});

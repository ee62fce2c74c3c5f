import type { Administration } from '../../administration-api/administration.ts';
import { SvcError } from '../../base/svc-error.ts';
import { findCommand } from '../admin.ts';
import { readInput } from '../command.ts';

const MATCH = {
  ...{ kind: 'payment', reference: '01KJMWQ3T0ABCDEFGH', utcDate: '2026-03-01T09:00:00.123Z', mode: 'test' },
  ...{ merchantId: 1001, merchantName: 'Karoo Books', siteId: 5001, siteName: 'Shop', amount: 123_450 },
  ...{
    currencyISOCode: 'ZAR',
    state: 'success',
    orderReference: 'order-17',
    payableId: 'a-session',
    source: 'session',
  },
  code: '01234567890123456789',
};
const NOTHING = { matches: [], hasMore: false, timeline: null, missing: [] };

/** Runs a command line, to which the API responds with this search. Returns the output and the request. */
async function timeline(args: string[], search: object): Promise<{ output: unknown; request: string }> {
  let request = '';
  const api: Administration = {
    upload: (_method, path) => Promise.reject(new Error(`unexpected upload to ${path}`)),
    text: (path) => Promise.reject(new Error(`unexpected request for ${path}`)),
    call: (method, path) => {
      request = `${method} ${path}`;
      return Promise.resolve(search);
    },
  };
  const command = findCommand(['timeline', ...args]);
  return { output: await command.run(api, readInput(command, args)), request };
}

test('a timeline has aligned columns, times in UTC with milliseconds, and the details below each step', async () => {
  const entry = { service: 'hosted-gateway', utcDate: '2026-03-01T08:59:00.000Z', event: 'session created' };
  const called = { service: 'payment-processor', utcDate: '2026-03-01T09:00:00.123Z', event: 'acquirer called' };
  const entries = [
    { ...entry, amount: 123_450, details: [{ name: 'order', value: 'order-17' }], requestId: 'r-1' },
    { ...called, details: [{ name: 'acquirer', value: 'ad\u001byen' }], traceId: 'abc', isOpen: true },
  ];
  const missing = [{ service: 'webhook-dispatcher', part: 'the notifications' }];
  const search = { ...NOTHING, matches: [MATCH], timeline: { subject: MATCH, entries, missing }, missing };
  const { output, request } = await timeline(['order-17', '--day=2026-03-01', '--mode=test'], search);
  expect(request).toBe('GET /timeline?find=order-17&day=2026-03-01&mode=test');
  expect(output).toBe(
    [
      'payment   01KJMWQ3T0ABCDEFGH success R 1 234.50 test',
      'merchant  Karoo Books (1001), Shop (5001)',
      'order     order-17',
      'session   a-session',
      'code      01234567890123456789',
      '',
      '2026-03-01 08:59:00.000  hosted-gateway     session created  R 1 234.50',
      '                         order: order-17 · request: r-1',
      '2026-03-01 09:00:00.123  payment-processor  acquirer called  (no outcome yet)',
      '                         acquirer: ad?yen · trace: abc',
      'Missing, because webhook-dispatcher does not respond: the notifications.',
    ].join('\n'),
  );
  expect((await timeline(['order-17', '--json'], search)).output).toBe(search);
});

test('several matches are a list to choose from', async () => {
  const other = { ...MATCH, reference: '01KJMWQ3T0ABCDEFGJ', merchantName: '', state: 'failed', amount: 100 };
  const { output } = await timeline(['order-17'], { ...NOTHING, matches: [MATCH, other] });
  expect(output).toBe(
    [
      'reference           time (UTC)               mode  merchant     site  amount      state    order',
      '01KJMWQ3T0ABCDEFGH  2026-03-01 09:00:00.123  test  Karoo Books  Shop  R 1 234.50  success  order-17',
      '01KJMWQ3T0ABCDEFGJ  2026-03-01 09:00:00.123  test  1001         Shop  R 1.00      failed   order-17',
      '',
      'Choose one: ./svc admin timeline <reference>',
    ].join('\n'),
  );
  const { output: more } = await timeline(['order-17'], { ...NOTHING, matches: [MATCH, other], hasMore: true });
  expect(more).toContain('There are more: add --day=YYYY-MM-DD or --mode=test|live.');
});

test.each([
  [['4242'], 'add --day=YYYY-MM-DD'],
  [['4242', '--day=2026-03-01'], '"Find a payment" in docs/operations.md'],
  [['order-17'], '"Find a payment" in docs/operations.md'],
])('nothing found for %p says where else to look', async (args, hint) => {
  const missing = [{ service: 'hosted-gateway', part: 'the session' }];
  const error: unknown = await timeline(args, { ...NOTHING, missing }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SvcError);
  expect((error as SvcError).line).toContain(hint);
  expect((error as SvcError).output).toEqual({
    table: 'Missing, because hosted-gateway does not respond: the session.',
    json: { ...NOTHING, missing },
  });
});

test('an empty text is refused without a request', async () => {
  await expect(timeline([' '], NOTHING)).rejects.toMatchObject({ exitCode: 2 });
});

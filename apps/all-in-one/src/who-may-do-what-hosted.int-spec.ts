/**
 * Calls every endpoint of the hosted gateway with every site and key, for own and foreign objects. The test compares the tables that
 * it prints with docs/who-may-do-what.md.
 */
import { ROUTES } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import {
  CLAIMS,
  HOSTED_COLUMNS,
  HOSTED_KEYS,
  type HostedCaller,
  hostedCallerOf,
  TwoMerchants,
} from '../test/hosted-callers.js';
import { type Answer, type MainApi, startMainApi } from '../test/main-api.js';
import {
  HOSTED_ROWS,
  type HostedObjects,
  type HostedRow,
  type Owner,
  OWNERS,
} from '../test/who-may-do-what/hosted-rows.js';
import { expectDocumented, tableOf } from '../test/who-may-do-what/table.js';

let api: MainApi;
let two: TwoMerchants;
let objects: HostedObjects;
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  two = await TwoMerchants.onboard(api);
  objects = await createObjects();
});
afterAll(() => api?.stop());

async function createObjects(): Promise<HostedObjects> {
  const paid = new Map<Owner, Awaited<ReturnType<TwoMerchants['newPaidSession']>>>();
  for (const owner of OWNERS) paid.set(owner, await two.newPaidSession(owner));
  const [tillCode, busyTillCode] = [await newTillCode('TILL-1'), await newTillCode('TILL-2')];
  const { code: invoiceCode } = await two.newInvoice('TILL-2');
  const deliveries = new Map<Owner, string>();
  await waitUntil('what was made to be known', 20_000, async () => {
    await api.tellEverybody();
    for (const owner of OWNERS) {
      const feed = await two.as(owner, { method: 'GET', path: '/api/v3.1/notifications' });
      if (!feed.text.includes(paid.get(owner)!.paymentReference)) return false;
      const { text } = await two.as(owner, { method: 'GET', path: '/api/v3.1/deliveries' });
      const [delivery] = (JSON.parse(text) as { deliveries: { id: string }[] }).deliveries;
      if (delivery === undefined) return false;
      deliveries.set(owner, delivery.id);
    }
    for (const path of [`/c/${tillCode}`, `/c/${invoiceCode}`, '/health/ready'])
      if ((await api.callHosted({ method: 'GET', path })).status !== 200) return false;
    return true;
  });
  return { two, paid, deliveries, tillCode, busyTillCode, invoiceCode };
}

async function newTillCode(till: string): Promise<string> {
  const { merchantId, siteId } = two.numbers.get('site 1')!;
  const made = await api.call({
    method: 'PUT',
    path: `/business/api/v1/merchants/${merchantId}/sites/${siteId}/tills/${till}/code`,
    headers: { 'x-api-key': two.keys.get('site 1')! },
  });
  const code = /\d{20}/.exec(made.text)?.[0];
  if (made.status !== 201 || code === undefined) throw new Error(`No code of a till: ${made.status} ${made.text}`);
  return code;
}

test('every reachable endpoint has rows, and every route has endpoints', () => {
  expect([...new Set(HOSTED_ROWS.map(({ endpoint }) => endpoint))].sort()).toEqual(
    [...new Set(api.hostedEndpoints)].sort(),
  );
  const paths = api.hostedEndpoints.map((endpoint) => endpoint.split(' ')[1]!);
  for (const { path } of ROUTES.filter(({ host }) => host === 'gateway'))
    expect([path, paths.some((known) => known === path || known.startsWith(`${path}/`))]).toEqual([path, true]);
});

test('each caller gets the documented answer', async () => {
  const wrong: string[] = [];
  const merchants: string[][] = [];
  const payers: string[][] = [];
  let asked = 0;
  for (const row of HOSTED_ROWS) {
    const expected = row.answers?.split(' ');
    const cells = new Map<string, Set<string>>();
    // Endpoints without credentials answer every caller alike: one site and no site are enough.
    const claims = expected ? CLAIMS : (['site 1', 'no headers'] as const);
    for (const claim of claims) {
      for (const key of HOSTED_KEYS) {
        const caller = expected ? hostedCallerOf(claim, key) : undefined;
        const answer = await two.ask(claim, key, await row.call(objects, caller));
        asked++;
        const got = cellOf(answer);
        const column = caller ?? 'everybody else';
        cells.set(column, (cells.get(column) ?? new Set()).add(got));
        const wanted = caller === undefined ? row.others : expected![HOSTED_COLUMNS.indexOf(caller)]!;
        const where = `${row.endpoint}, ${row.object}: ${claim}, key ${key}`;
        if (got !== wanted) wrong.push(`${where}: ${got}, not ${wanted} ${answer.text.slice(0, 200)}`);
        for (const problem of [...formProblems(answer), ...foreignIn(row, answer, caller)])
          wrong.push(`${where}: ${problem}`);
      }
    }
    const columns = [...(expected ? HOSTED_COLUMNS : []), 'everybody else'];
    const line = [row.endpoint, row.object, ...columns.map((name) => [...cells.get(name)!].join(', '))];
    (expected ? merchants : payers).push(line);
  }
  const tables = [
    tableOf(['Endpoint', 'Object', ...HOSTED_COLUMNS, 'everybody else'], merchants),
    tableOf(['Endpoint', 'Object', 'everybody'], payers),
  ];
  process.stdout.write(`\n${tables.join('\n\n')}\n\n${asked} calls\n`);
  expect(wrong).toEqual([]);
  expect(asked).toBe((merchants.length * CLAIMS.length + payers.length * 2) * HOSTED_KEYS.length);
  expectDocumented(tables);
});

test('a caller without credentials gets 401, also with an invalid request', async () => {
  const wrong: string[] = [];
  for (const { endpoint } of HOSTED_ROWS.filter(({ answers }) => answers !== undefined)) {
    const [method = '', pattern = ''] = endpoint.split(' ');
    const path = pattern.replaceAll(/:\w+/g, 'x');
    const json = { 'content-type': 'application/json' };
    const calls = [
      { path: pattern.replaceAll(/:\w+/g, 'x'.repeat(300)) },
      { path: `${path}?sessionId=&sessionId=2&after=x` },
      { headers: json, body: '{"no": ' },
      { headers: json, body: '[]' },
      { headers: { 'content-type': 'text/plain' }, body: 'text' },
    ];
    for (const call of method === 'GET' ? calls.slice(0, 2) : calls) {
      const answer = await two.ask('site 1', 'none', { method, path, ...call });
      if (cellOf(answer) !== '401') wrong.push(`${endpoint} ${JSON.stringify(call).slice(0, 100)}: ${answer.status}`);
      wrong.push(...formProblems(answer).map((problem) => `${endpoint}: ${problem}`));
    }
  }
  expect(wrong).toEqual([]);
});

function cellOf({ status, text }: Answer): string {
  const { payments, notifications, deliveries } = (status === 200 && text.startsWith('{') ? JSON.parse(text) : {}) as {
    payments?: unknown[];
    notifications?: unknown[];
    deliveries?: unknown[];
  };
  const listed = payments ?? notifications ?? deliveries;
  return listed ? `${status}:${listed.length}` : String(status);
}

/** Differences from the specification of the hosted gateway (C5): each refusal is an envelope or a page. */
function formProblems({ status, headers, text }: Answer): string[] {
  const problems: string[] = [];
  if (!/^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? '')) problems.push('no x-request-id');
  if (status < 400 || headers.get('content-type')?.startsWith('text/html')) return problems;
  const body = JSON.parse(text) as { status?: string; errors?: { message?: unknown }[] };
  const expected = { 400: 'BadRequest', 401: 'Unauthorized', 404: 'NotFound' }[status];
  if (body.status !== expected || typeof body.errors?.[0]?.message !== 'string') problems.push(`no envelope: ${text}`);
  return problems;
}

/** Data of other callers in the response. */
function foreignIn({ answers }: HostedRow, { text }: Answer, caller: HostedCaller | undefined): string[] {
  if (answers === undefined) return [];
  const isOwn = (owner: Owner): boolean =>
    owner === caller || (owner === 'open site' && caller === 'open site, no key');
  return [...objects.paid].flatMap(([owner, { sessionId, code, paymentReference }]) =>
    [sessionId, code, paymentReference].some((secret) => text.includes(secret)) && !isOwn(owner)
      ? [`what is of ${owner}`]
      : [],
  );
}

/**
 * Calls every endpoint of the hosted gateway with every site and key, for own and foreign objects. The test compares
 * the tables that it prints with docs/who-may-do-what.md.
 */
import { ROUTES } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import {
  findHostedCaller,
  HOSTED_COLUMNS,
  HOSTED_KEYS,
  type HostedCaller,
  type PaidSession,
  SITE_HEADERS,
  TwoMerchants,
} from '../test/hosted-callers.js';
import { type ApiResponse, type MainApi, startMainApi } from '../test/main-api.js';
import {
  HOSTED_ROWS,
  type HostedPermissionRow,
  type HostedTestData,
  type Owner,
  OWNERS,
} from '../test/who-may-do-what/hosted-rows.js';
import { expectDocumented, toMarkdownTable } from '../test/who-may-do-what/table.js';

let api: MainApi;
let merchants: TwoMerchants;
let testData: HostedTestData;
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  merchants = await TwoMerchants.onboard(api);
  testData = await createTestData();
});
afterAll(() => api?.stop());

async function createTestData(): Promise<HostedTestData> {
  const paidSessions = new Map<Owner, PaidSession>();
  for (const owner of OWNERS) paidSessions.set(owner, await merchants.createPaidSession(owner));
  const [idleTillCode, busyTillCode] = [await createTillCode('TILL-1'), await createTillCode('TILL-2')];
  const { code: invoiceCode, reference: invoiceReference } = await merchants.createInvoice('TILL-2');
  const deliveries = new Map<Owner, string>();
  await waitUntil('all services to receive the new objects', 20_000, async () => {
    await api.relayAllEvents();
    for (const owner of OWNERS) {
      const feed = await merchants.callAs(owner, { method: 'GET', path: '/api/v3.1/notifications' });
      if (!feed.text.includes(paidSessions.get(owner)!.paymentReference)) return false;
      const { text } = await merchants.callAs(owner, { method: 'GET', path: '/api/v3.1/deliveries' });
      const [delivery] = (JSON.parse(text) as { deliveries: { id: string }[] }).deliveries;
      if (delivery === undefined) return false;
      deliveries.set(owner, delivery.id);
    }
    for (const path of [`/c/${idleTillCode}`, `/c/${invoiceCode}`, '/health/ready'])
      if ((await api.callHosted({ method: 'GET', path })).status !== 200) return false;
    return true;
  });
  return { merchants, paidSessions, deliveries, idleTillCode, busyTillCode, invoiceCode, invoiceReference };
}

async function createTillCode(till: string): Promise<string> {
  const { merchantId, siteId } = merchants.siteIds.get('site 1')!;
  const response = await api.call({
    method: 'PUT',
    path: `/business/api/v1/merchants/${merchantId}/sites/${siteId}/tills/${till}/code`,
    headers: { 'x-api-key': merchants.keys.get('site 1')! },
  });
  const code = /\d{20}/.exec(response.text)?.[0];
  if (response.status !== 201 || code === undefined)
    throw new Error(`No code of a till: ${response.status} ${response.text}`);
  return code;
}

test('every endpoint that the route table exposes has rows in this test, and every route leads to an endpoint', () => {
  expect([...new Set(HOSTED_ROWS.map(({ endpoint }) => endpoint))].sort()).toEqual(
    [...new Set(api.hostedEndpoints)].sort(),
  );
  const paths = api.hostedEndpoints.map((endpoint) => endpoint.split(' ')[1]!);
  for (const { path } of ROUTES.filter(({ host }) => host === 'gateway'))
    expect([path, paths.some((endpoint) => endpoint === path || endpoint.startsWith(`${path}/`))]).toEqual([
      path,
      true,
    ]);
});

test('each caller gets the documented status, and no data of other callers', async () => {
  const failures: string[] = [];
  const merchantLines: string[][] = [];
  const payerLines: string[][] = [];
  let callCount = 0;
  for (const row of HOSTED_ROWS) {
    const expected = row.statuses?.split(' ');
    const cells = new Map<string, Set<string>>();
    // An endpoint without credentials responds to every caller alike: calls with and without the headers of a site are
    // enough.
    const headerNames = expected ? SITE_HEADERS : (['site 1', 'no headers'] as const);
    for (const siteHeaders of headerNames) {
      for (const key of HOSTED_KEYS) {
        const caller = expected ? findHostedCaller(siteHeaders, key) : undefined;
        const response = await merchants.send(siteHeaders, key, await row.newRequest(testData, caller));
        callCount++;
        const actual = toCell(response);
        const column = caller ?? 'all other callers';
        cells.set(column, (cells.get(column) ?? new Set()).add(actual));
        const expectedCell = caller === undefined ? row.statusForOthers : expected![HOSTED_COLUMNS.indexOf(caller)]!;
        const where = `${row.endpoint}, ${row.object}: headers of ${siteHeaders}, key ${key}`;
        if (actual !== expectedCell)
          failures.push(`${where}: ${actual}, not ${expectedCell} ${response.text.slice(0, 200)}`);
        for (const problem of [...findFormatProblems(response), ...findForeignData(row, response, caller)])
          failures.push(`${where}: ${problem}`);
      }
    }
    const columns = [...(expected ? HOSTED_COLUMNS : []), 'all other callers'];
    const line = [row.endpoint, row.object, ...columns.map((name) => [...cells.get(name)!].join(', '))];
    (expected ? merchantLines : payerLines).push(line);
  }
  const tables = [
    toMarkdownTable(['Endpoint', 'Object', ...HOSTED_COLUMNS, 'all other callers'], merchantLines),
    toMarkdownTable(['Endpoint', 'Object', 'all callers'], payerLines),
  ];
  process.stdout.write(`\n${tables.join('\n\n')}\n\n${callCount} calls\n`);
  expect(failures).toEqual([]);
  expect(callCount).toBe((merchantLines.length * SITE_HEADERS.length + payerLines.length * 2) * HOSTED_KEYS.length);
  expectDocumented(tables);
});

test('a caller without credentials gets 401 for a valid and for an invalid request', async () => {
  const failures: string[] = [];
  for (const { endpoint } of HOSTED_ROWS.filter(({ statuses }) => statuses !== undefined)) {
    const [method = '', pattern = ''] = endpoint.split(' ');
    const path = pattern.replaceAll(/:\w+/g, 'x');
    const json = { 'content-type': 'application/json' };
    const invalidRequests = [
      { path: pattern.replaceAll(/:\w+/g, 'x'.repeat(300)) },
      { path: `${path}?sessionId=&sessionId=2&after=x` },
      { headers: json, body: '{"no": ' },
      { headers: json, body: '[]' },
      { headers: { 'content-type': 'text/plain' }, body: 'text' },
    ];
    for (const request of method === 'GET' ? invalidRequests.slice(0, 2) : invalidRequests) {
      const response = await merchants.send('site 1', 'none', { method, path, ...request });
      if (toCell(response) !== '401')
        failures.push(`${endpoint} ${JSON.stringify(request).slice(0, 100)}: ${response.status}`);
      failures.push(...findFormatProblems(response).map((problem) => `${endpoint}: ${problem}`));
    }
  }
  expect(failures).toEqual([]);
});

function toCell({ status, text }: ApiResponse): string {
  const { payments, notifications, deliveries } = (status === 200 && text.startsWith('{') ? JSON.parse(text) : {}) as {
    payments?: unknown[];
    notifications?: unknown[];
    deliveries?: unknown[];
  };
  const list = payments ?? notifications ?? deliveries;
  return list ? `${status}:${list.length}` : String(status);
}

/**
 * Differences from the error format of the hosted gateway (C5): each refusal is an error object with a status, or a
 * page.
 */
function findFormatProblems({ status, headers, text }: ApiResponse): string[] {
  const problems: string[] = [];
  if (!/^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? '')) problems.push('no x-request-id');
  if (status < 400 || headers.get('content-type')?.startsWith('text/html')) return problems;
  const body = JSON.parse(text) as { status?: string; errors?: { message?: unknown }[] };
  const expected = { 400: 'BadRequest', 401: 'Unauthorized', 404: 'NotFound' }[status];
  if (body.status !== expected || typeof body.errors?.[0]?.message !== 'string')
    problems.push(`no error object: ${text}`);
  return problems;
}

/** Finds data of other callers in the response. */
function findForeignData(
  { statuses }: HostedPermissionRow,
  { text }: ApiResponse,
  caller: HostedCaller | undefined,
): string[] {
  if (statuses === undefined) return [];
  const isOwn = (owner: Owner): boolean =>
    owner === caller || (owner === 'open site' && caller === 'open site, no key');
  return [...testData.paidSessions].flatMap(([owner, { sessionId, code, paymentReference }]) =>
    [sessionId, code, paymentReference].some((secret) => text.includes(secret)) && !isOwn(owner)
      ? [`data of ${owner}`]
      : [],
  );
}

/**
 * Calls every endpoint of the main API with every key and token, for own and foreign objects. The test compares the
 * tables that it prints with docs/who-may-do-what.md.
 */
import { randomUUID } from 'node:crypto';
import { pathPattern, ROUTES } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { type ApiResponse, type MainApi, startMainApi } from '../test/main-api.js';
import {
  CUSTOMERS,
  type Invoice,
  KEYS,
  MERCHANTS,
  type Partner,
  SERVERS,
  TOKENS,
  TwoPartners,
} from '../test/two-partners.js';
import type {
  PermissionRow,
  RequiredCredentials,
  TestData,
  TestPayment,
} from '../test/who-may-do-what/permission-row.js';
import { expectDocumented, toMarkdownTable } from '../test/who-may-do-what/table.js';
import { COLUMNS, findCaller, ROWS } from '../test/who-may-do-what/who-may-rows.js';

let api: MainApi;
let partners: TwoPartners;
let testData: TestData;
beforeAll(async () => {
  api = await startMainApi();
  partners = await TwoPartners.onboard(api);
  testData = await createTestData();
});
afterAll(() => api?.stop());

async function createTestData(): Promise<TestData> {
  const payments = new Map<Partner, TestPayment>();
  const cards = new Map<Partner, string>();
  const invoices = { test: await partners.createInvoice('test'), live: await partners.createInvoice('live') };
  for (const payer of ['A’s 1', 'A’s 2', 'B’s 1', 'A live'] as const)
    payments.set(payer, await pay(payer, await partners.createInvoice(payer === 'A live' ? 'live' : 'test')));
  for (const owner of [...SERVERS, ...CUSTOMERS]) cards.set(owner, await partners.storeCard(owner));
  const till = { method: 'PUT', path: `${partners.sitePath}/tills/TILL-1/code` };
  expect((await partners.send('site 1', 'none', till)).status).toBe(201);
  await waitUntilMerchantsSee([...payments.values()].map(({ paymentReference }) => paymentReference));
  return { partners, payments, cards, invoices };
}

/** Waits until merchant-retrieval has received the keys and the payments by events. */
async function waitUntilMerchantsSee(references: readonly string[]): Promise<void> {
  await waitUntil('merchants to find their payments', 20_000, async () => {
    await api.relayAllEvents();
    let foundCount = 0;
    for (const key of MERCHANTS)
      for (const reference of references) {
        const { status, text } = await partners.send(key, 'none', {
          method: 'GET',
          path: `${partners.sitePath}/payments/${reference}`,
        });
        if (status === 401) return false;
        if (key.startsWith('merchant 1') && text.includes(reference)) foundCount++;
      }
    return foundCount === references.length;
  });
}

async function pay(
  payer: Partner,
  invoice: Invoice,
  customerId = partners.customers.get(payer as 'A’s 1')?.customerReference ?? randomUUID(),
): Promise<TestPayment> {
  const request = { reference: randomUUID(), invoiceReference: invoice.reference, amount: invoice.amount };
  const paymentMethod = { card: { token: await partners.storeCard(payer) } };
  const { paymentReference } = await partners.callAs<{ paymentReference: string }>(payer, {
    method: 'POST',
    path: '/v1/payments',
    body: { ...request, customer: { id: customerId }, paymentMethod },
  });
  return { paymentReference, externalReference: invoice.externalReference, request };
}

test('every endpoint that the route table exposes has rows in this test, and every route leads to an endpoint', () => {
  expect([...new Set(ROWS.map(({ endpoint }) => endpoint))].sort()).toEqual([...new Set(api.endpoints)].sort());
  const paths = api.endpoints.map((endpoint) => endpoint.split(' ')[1]!);
  for (const { path } of ROUTES.filter(({ host }) => host === 'api'))
    expect([path, paths.some((endpoint) => covers(path, endpoint))]).toEqual([path, true]);
});

/** Whether a route of the route table leads to an endpoint of a controller. */
function covers(route: string, endpoint: string): boolean {
  const pattern = pathPattern(route);
  return pattern === undefined
    ? endpoint === route || endpoint.startsWith(`${route}/`)
    : new RegExp(pattern).test(endpoint);
}

test('every caller gets the documented status, and no data of other callers', async () => {
  const failures: string[] = [];
  const linesByTable = new Map<RequiredCredentials, string[][]>();
  let callCount = 0;
  for (const row of ROWS) {
    const columns = COLUMNS[row.requires];
    const expected = new Map(columns.map((column, index) => [column, row.statuses.split(' ')[index]!]));
    const cells = new Map<string, Set<string>>();
    for (const key of KEYS) {
      for (const token of TOKENS) {
        const caller = findCaller(row.requires, key, token);
        const request = await row.newRequest(testData, caller);
        const response = await partners.send(key, token, request);
        callCount++;
        const actual = toCell(response);
        const column = caller ?? 'all other callers';
        cells.set(column, (cells.get(column) ?? new Set()).add(actual));
        const expectedCell = caller === undefined ? row.statusForOthers : expected.get(caller)!;
        const where = `${row.endpoint}, ${row.object}: key ${key}, token ${token}`;
        if (actual !== expectedCell)
          failures.push(`${where}: ${actual}, not ${expectedCell} ${response.text.slice(0, 200)}`);
        for (const problem of [...findFormatProblems(row, response), ...findForeignData(row, response, caller)])
          failures.push(`${where}: ${problem}`);
      }
    }
    const line = [
      row.endpoint,
      row.object,
      ...[...columns, 'all other callers'].map((name) => [...cells.get(name)!].join(', ')),
    ];
    linesByTable.set(row.requires, [...(linesByTable.get(row.requires) ?? []), line]);
  }
  const tables = [...linesByTable].map(([requires, lines]) =>
    toMarkdownTable(['Endpoint', 'Object', ...COLUMNS[requires], 'all other callers'], lines),
  );
  process.stdout.write(`\n${tables.join('\n\n')}\n\n${callCount} calls\n`);
  expect(failures).toEqual([]);
  expect(callCount).toBe(ROWS.length * KEYS.length * TOKENS.length);
  expectDocumented(tables);
});

test('a payment of B with the reference of A’s customer belongs to B, and A’s customer does not see it', async () => {
  const { customerReference } = partners.customers.get('A’s 1')!;
  const listPayments = async (partner: Partner): Promise<string[]> => {
    const page = await partners.callAs<{ payments: { paymentReference: string }[] }>(partner, {
      method: 'GET',
      path: `/v1/payments?customerReference=${customerReference}`,
    });
    return page.payments.map(({ paymentReference }) => paymentReference);
  };
  const paymentsBefore = await listPayments('A’s 1');
  const { paymentReference } = await pay('B', await partners.createInvoice(), customerReference);
  expect(await listPayments('B')).toContain(paymentReference);
  expect(await listPayments('A’s 1')).toEqual(paymentsBefore);
  expect(await listPayments('A')).toEqual(paymentsBefore);
});

/** Authentication comes before validation (C5). */
test('an unauthenticated caller gets an empty 401 for a valid and for an invalid request', async () => {
  const failures: string[] = [];
  for (const { endpoint, requires } of ROWS.filter((row) => row.requires !== 'none')) {
    const [method = '', pattern = ''] = endpoint.split(' ');
    const path = pattern.replaceAll(/:\w+|\*/g, 'x');
    const longPath = pattern.replaceAll(/:\w+|\*/g, 'x'.repeat(300));
    const json = { 'content-type': 'application/json' };
    const bodies = [
      { headers: json, body: '{"no": ' },
      { headers: json, body: '[]' },
      { headers: json, body: '['.repeat(100_000) },
      { headers: json, body: '{"__proto__": {"a": 1}}' },
      { headers: { 'content-type': 'text/plain' }, body: 'text' },
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'amount=1' },
    ];
    const invalidRequests = [
      { path: longPath },
      { path: `${path}?page=0&customerReference=1&customerReference=2` },
      ...bodies,
    ];
    for (const request of method === 'GET' ? invalidRequests.slice(0, 2) : invalidRequests) {
      const response = await partners.send(requires === 'partner' ? 'A' : 'none', 'none', { method, path, ...request });
      if (toCell(response) !== '401' || response.text !== '')
        failures.push(`${endpoint} ${JSON.stringify(request).slice(0, 100)}: ${response.status} ${response.text}`);
    }
  }
  expect(failures).toEqual([]);
});

function toCell({ status, text }: ApiResponse): string {
  const { payments, errors } = (text.startsWith('{') ? JSON.parse(text) : {}) as {
    payments?: unknown[];
    errors?: { errorReference: string }[] | null;
  };
  if (status === 200 && payments) return `200:${payments.length}`;
  if (status === 200 && text.startsWith('[')) return `200:${(JSON.parse(text) as unknown[]).length}`;
  const reference = status < 400 ? undefined : errors?.[0]?.errorReference;
  return reference === undefined || reference === '40' ? String(status) : `${status}/${reference}`;
}

/** Differences from the error format of C5. */
function findFormatProblems({ endpoint }: PermissionRow, { status, headers, text }: ApiResponse): string[] {
  const problems: string[] = [];
  const requestId = headers.get('x-request-id') ?? '';
  if (!/^[0-9a-f-]{36}$/.test(requestId)) problems.push('no x-request-id');
  // A page for payers.
  if (endpoint.endsWith(' /v1/verifications/:paymentReference/start')) return problems;
  const isEmpty =
    status === 204 || status === 401 || (status === 404 && endpoint === 'GET /v1/payments/:paymentReference');
  if (isEmpty && (text !== '' || headers.has('content-type'))) problems.push(`${status} with a body`);
  if (isEmpty || status < 400) return problems;
  const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>;
  const [error] = (body['errors'] ?? []) as { errorReference?: unknown; message?: unknown }[];
  if (headers.get('content-type')?.startsWith('application/problem+json') !== true) problems.push('no problem+json');
  if (body['status'] !== status || body['instance'] !== requestId) problems.push('a wrong status or instance');
  if (typeof error?.errorReference !== 'string' || typeof error.message !== 'string') problems.push('no error');
  return problems;
}

/** Finds data of other callers in the response. */
function findForeignData(
  { endpoint }: PermissionRow,
  { status, text }: ApiResponse,
  caller: string | undefined,
): string[] {
  if (endpoint.includes(' /v1/verifications/')) return [];
  const isOwn = (owner: Partner): boolean =>
    owner === caller ||
    (caller === 'A' && owner.startsWith('A’s')) ||
    (caller === 'B' && owner.startsWith('B’s')) ||
    // Every payment was made at site 1.
    (owner === 'A live' ? caller === 'merchant 1 live' : caller === 'merchant 1' || caller === 'site 1');
  const secrets = [
    ...[...testData.payments].map(([owner, { paymentReference }]) => [owner, paymentReference] as const),
    ...[...testData.cards].map(([owner, token]) => [owner, token] as const),
    // B's server may see the reference of A's customer in the response, because B sent it in the request.
    ...(status < 300
      ? []
      : [...partners.customers].map(([owner, { customerReference }]) => [owner, customerReference] as const)),
  ];
  return secrets.flatMap(([owner, secret]) => (text.includes(secret) && !isOwn(owner) ? [`data of ${owner}`] : []));
}

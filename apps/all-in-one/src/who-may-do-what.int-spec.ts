/**
 * Calls every endpoint of the main API with every key and token, for own and foreign objects. The test compares the tables that it
 * prints with docs/who-may-do-what.md.
 */
import { randomUUID } from 'node:crypto';
import { pathPattern, ROUTES } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { type Answer, type MainApi, startMainApi } from '../test/main-api.js';
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
import { expectDocumented, tableOf } from '../test/who-may-do-what/table.js';
import {
  callerOf,
  COLUMNS,
  type Needs,
  type Objects,
  type Row,
  ROWS,
  type TestPayment,
} from '../test/who-may-do-what/who-may-rows.js';

let api: MainApi;
let two: TwoPartners;
let objects: Objects;
beforeAll(async () => {
  api = await startMainApi();
  two = await TwoPartners.onboard(api);
  objects = await createObjects();
});
afterAll(() => api?.stop());

async function createObjects(): Promise<Objects> {
  const payments: Objects['payments'] = new Map();
  const cards: Objects['cards'] = new Map();
  const invoices = { test: await two.newInvoice('test'), live: await two.newInvoice('live') };
  const made = { payments: payments as Map<Partner, unknown>, cards: cards as Map<Partner, string> };
  for (const payer of ['A’s 1', 'A’s 2', 'B’s 1', 'A live'] as const)
    made.payments.set(payer, await pay(payer, await two.newInvoice(payer === 'A live' ? 'live' : 'test')));
  for (const owner of [...SERVERS, ...CUSTOMERS]) made.cards.set(owner, await two.newCard(owner));
  const till = { method: 'PUT', path: `${two.sitePath}/tills/TILL-1/code` };
  expect((await two.ask('site 1', 'none', till)).status).toBe(201);
  await waitUntilMerchantsSee([...payments.values()].map(({ paymentReference }) => paymentReference));
  return { two, payments, cards, invoices };
}

/** Waits for merchant-retrieval, which receives keys and payments by events. */
async function waitUntilMerchantsSee(references: readonly string[]): Promise<void> {
  await waitUntil('merchants to find their payments', 20_000, async () => {
    await api.tellEverybody();
    let found = 0;
    for (const key of MERCHANTS)
      for (const reference of references) {
        const { status, text } = await two.ask(key, 'none', {
          method: 'GET',
          path: `${two.sitePath}/payments/${reference}`,
        });
        if (status === 401) return false;
        if (key.startsWith('merchant 1') && text.includes(reference)) found++;
      }
    return found === references.length;
  });
}

async function pay(
  payer: Partner,
  invoice: Invoice,
  id = two.customers.get(payer as 'A’s 1')?.customerReference ?? randomUUID(),
): Promise<TestPayment> {
  const request = { reference: randomUUID(), invoiceReference: invoice.reference, amount: invoice.amount };
  const paymentMethod = { card: { token: await two.newCard(payer) } };
  const { paymentReference } = await two.as<{ paymentReference: string }>(payer, {
    method: 'POST',
    path: '/v1/payments',
    body: { ...request, customer: { id }, paymentMethod },
  });
  return { paymentReference, externalReference: invoice.externalReference, request };
}

test('every reachable endpoint has rows, and every route has endpoints', () => {
  expect([...new Set(ROWS.map(({ endpoint }) => endpoint))].sort()).toEqual([...new Set(api.endpoints)].sort());
  const paths = api.endpoints.map((endpoint) => endpoint.split(' ')[1]!);
  for (const { path } of ROUTES.filter(({ host }) => host === 'api'))
    expect([path, paths.some((known) => covers(path, known))]).toEqual([path, true]);
});

/** Whether a route leads to an endpoint of a controller. */
function covers(route: string, endpoint: string): boolean {
  const pattern = pathPattern(route);
  return pattern === undefined
    ? endpoint === route || endpoint.startsWith(`${route}/`)
    : new RegExp(pattern).test(endpoint);
}

test('every caller gets the documented answer, and no foreign data', async () => {
  const wrong: string[] = [];
  const seen = new Map<Needs, string[][]>();
  let asked = 0;
  for (const row of ROWS) {
    const columns = COLUMNS[row.needs];
    const expected = new Map(columns.map((column, index) => [column, row.answers.split(' ')[index]!]));
    const cells = new Map<string, Set<string>>();
    for (const key of KEYS) {
      for (const token of TOKENS) {
        const caller = callerOf(row.needs, key, token);
        const call = await row.call(objects, caller);
        const answer = await two.ask(key, token, call);
        asked++;
        const got = cellOf(answer);
        const column = caller ?? 'everybody else';
        cells.set(column, (cells.get(column) ?? new Set()).add(got));
        const wanted = caller === undefined ? row.others : expected.get(caller)!;
        const where = `${row.endpoint}, ${row.object}: key ${key}, token ${token}`;
        if (got !== wanted) wrong.push(`${where}: ${got}, not ${wanted} ${answer.text.slice(0, 200)}`);
        for (const problem of [...formProblems(row, answer), ...foreignIn(row, answer, caller)])
          wrong.push(`${where}: ${problem}`);
      }
    }
    const line = [
      row.endpoint,
      row.object,
      ...[...columns, 'everybody else'].map((name) => [...cells.get(name)!].join(', ')),
    ];
    seen.set(row.needs, [...(seen.get(row.needs) ?? []), line]);
  }
  const tables = [...seen].map(([needs, lines]) =>
    tableOf(['Endpoint', 'Object', ...COLUMNS[needs], 'everybody else'], lines),
  );
  process.stdout.write(`\n${tables.join('\n\n')}\n\n${asked} calls\n`);
  expect(wrong).toEqual([]);
  expect(asked).toBe(ROWS.length * KEYS.length * TOKENS.length);
  expectDocumented(tables);
});

test('objects of B with the reference of A’s customer belong to B, and A’s customer never sees them', async () => {
  const { customerReference } = two.customers.get('A’s 1')!;
  const listed = async (partner: Partner): Promise<string[]> => {
    const page = await two.as<{ payments: { paymentReference: string }[] }>(partner, {
      method: 'GET',
      path: `/v1/payments?customerReference=${customerReference}`,
    });
    return page.payments.map(({ paymentReference }) => paymentReference);
  };
  const before = await listed('A’s 1');
  const { paymentReference } = await pay('B', await two.newInvoice(), customerReference);
  expect(await listed('B')).toContain(paymentReference);
  expect(await listed('A’s 1')).toEqual(before);
  expect(await listed('A')).toEqual(before);
});

/** Authentication comes before validation (C5). */
test('an unauthenticated caller gets 401 and nothing else, also with an invalid request', async () => {
  const wrong: string[] = [];
  for (const { endpoint, needs } of ROWS.filter((row) => row.needs !== 'nobody')) {
    const [method = '', pattern = ''] = endpoint.split(' ');
    const path = pattern.replaceAll(/:\w+|\*/g, 'x');
    const long = pattern.replaceAll(/:\w+|\*/g, 'x'.repeat(300));
    const json = { 'content-type': 'application/json' };
    const bodies = [
      { headers: json, body: '{"no": ' },
      { headers: json, body: '[]' },
      { headers: json, body: '['.repeat(100_000) },
      { headers: json, body: '{"__proto__": {"a": 1}}' },
      { headers: { 'content-type': 'text/plain' }, body: 'text' },
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'amount=1' },
    ];
    const calls = [{ path: long }, { path: `${path}?page=0&customerReference=1&customerReference=2` }, ...bodies];
    for (const call of method === 'GET' ? calls.slice(0, 2) : calls) {
      const answer = await two.ask(needs === 'partner' ? 'A' : 'none', 'none', { method, path, ...call });
      if (cellOf(answer) !== '401' || answer.text !== '')
        wrong.push(`${endpoint} ${JSON.stringify(call).slice(0, 100)}: ${answer.status} ${answer.text}`);
    }
  }
  expect(wrong).toEqual([]);
});

function cellOf({ status, text }: Answer): string {
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
function formProblems({ endpoint }: Row, { status, headers, text }: Answer): string[] {
  const problems: string[] = [];
  const requestId = headers.get('x-request-id') ?? '';
  if (!/^[0-9a-f-]{36}$/.test(requestId)) problems.push('no x-request-id');
  const isEmpty =
    status === 204 || status === 401 || (status === 404 && endpoint === 'GET /v1/payments/:paymentReference');
  if (isEmpty && (text !== '' || headers.has('content-type'))) problems.push(`${status} with a body`);
  if (isEmpty || status < 400) return problems;
  const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>;
  const [error] = (body['errors'] ?? []) as { errorReference?: unknown; message?: unknown }[];
  if (headers.get('content-type')?.startsWith('application/problem+json') !== true) problems.push('no problem+json');
  if (body['status'] !== status || body['instance'] !== requestId) problems.push('another status or instance');
  if (typeof error?.errorReference !== 'string' || typeof error.message !== 'string') problems.push('no error');
  return problems;
}

/** Data of other callers in the response. */
function foreignIn({ endpoint }: Row, { status, text }: Answer, caller: string | undefined): string[] {
  if (endpoint.startsWith('GET /v1/verifications')) return [];
  const isOwn = (owner: Partner): boolean =>
    owner === caller ||
    (caller === 'A' && owner.startsWith('A’s')) ||
    (caller === 'B' && owner.startsWith('B’s')) ||
    // Every payment was made at site 1.
    (owner === 'A live' ? caller === 'merchant 1 live' : caller === 'merchant 1' || caller === 'site 1');
  const secrets = [
    ...[...objects.payments].map(([owner, { paymentReference }]) => [owner, paymentReference] as const),
    ...[...objects.cards].map(([owner, token]) => [owner, token] as const),
    // B's server may see the reference of A's customer in the response, because B sent it in the request.
    ...(status < 300 ? [] : [...two.customers].map(([owner, known]) => [owner, known.customerReference] as const)),
  ];
  return secrets.flatMap(([owner, secret]) => (text.includes(secret) && !isOwn(owner) ? [`what is ${owner}’s`] : []));
}

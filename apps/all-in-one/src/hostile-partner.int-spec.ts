/**
 * An authenticated partner sends invalid values in every field of every request body. Each response must name the
 * error. No request may cause a server error or a charge, and no response may contain card data.
 */
import { randomUUID } from 'node:crypto';
import type { JWK } from 'jose';
import { encryptCard } from '../test/encrypt-card.js';
import { type ApiResponse, type MainApi, startMainApi } from '../test/main-api.js';
import { type Invoice, newCardData, TwoPartners } from '../test/two-partners.js';

let api: MainApi;
let partners: TwoPartners;
let invoice: Invoice;
let storedCard: string;
let userId: string;
let cardKey: JWK & { kid: string };
beforeAll(async () => {
  api = await startMainApi();
  partners = await TwoPartners.onboard(api);
  invoice = await partners.createInvoice();
  storedCard = await partners.storeCard('A');
  const user = { email: 'hostile@example.com', password: partners.password };
  ({ userId } = await partners.callAs<{ userId: string }>('A', { method: 'POST', path: '/v1/auth/users', body: user }));
  cardKey = await partners.callAs<JWK & { kid: string }>('A', { method: 'GET', path: '/v1/cards/encryption-key' });
});
afterAll(() => api?.stop());

/** Values that are neither a whole number from 1 to 100 000 000 000 nor ordinary text. */
const HOSTILE_VALUES: readonly unknown[] = [
  ...[-1, -0.5, 0.5, 1e11 + 1, 2 ** 53, -(2 ** 53), 1e21, 1.7e308],
  ...[
    '',
    ' ',
    '1',
    '-1',
    'NaN',
    '1e5',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\u202e',
    '\r\nx: y',
    "'; DROP TABLE payments; --",
  ],
  ...['x'.repeat(101), 'x'.repeat(5_000), '💸'.repeat(60), '${7*7}', '../../etc/passwd', 'constructor', '%00'],
  ...[true, false, [], [[]], [null], {}, { toString: 'x' }, { length: 1 }, { $gt: 0 }, { id: { id: {} } }],
];

interface RequestTarget {
  readonly path: string;
  /** A body that is accepted. */
  readonly newValidBody: () => Record<string, unknown> | Promise<Record<string, unknown>>;
  /** If set, only this field is tested, because earlier targets already test the other fields of the body. */
  readonly testedField?: string;
}

/** A valid body of a payment, so that a refusal can only be caused by the field that a test changes. */
const newPaymentBody = (overrides: object = {}) => ({
  reference: randomUUID(),
  invoiceReference: invoice.reference,
  amount: invoice.amount,
  tipAmount: 0,
  orderReference: 'order-1',
  customer: { id: randomUUID(), firstName: 'Thandi', lastName: 'Nkosi' },
  paymentMethod: { card: newCardData() },
  returnUrl: 'https://partner.example/back',
  ...overrides,
});

const TARGETS: Readonly<Record<string, RequestTarget>> = {
  'a payment with a card': { path: '/v1/payments', newValidBody: newPaymentBody },
  'a payment by code': {
    path: '/v1/payments',
    testedField: 'code',
    newValidBody: () => newPaymentBody({ invoiceReference: null, code: Buffer.from(invoice.code).toString('base64') }),
  },
  'a payment with a stored card': {
    path: '/v1/payments',
    testedField: 'paymentMethod',
    newValidBody: () => newPaymentBody({ paymentMethod: { card: { token: storedCard } } }),
  },
  'a payment with an encrypted card': {
    path: '/v1/payments',
    testedField: 'paymentMethod',
    newValidBody: async () => {
      const reference = randomUUID();
      return newPaymentBody({ reference, paymentMethod: { card: { encryptedCard: await encryptCardFor(reference) } } });
    },
  },
  'an external payment': {
    path: '/v1/payments',
    testedField: 'paymentMethod',
    newValidBody: () =>
      newPaymentBody({ paymentMethod: { external: { type: 'EFT', status: 'failed', reference: 'bank-1' } } }),
  },
  'a payment with vouchers': {
    path: '/v1/payments',
    testedField: 'vouchers',
    newValidBody: () => newPaymentBody({ vouchers: [{ merchantLiable: true, amount: 1 }] }),
  },
  'a card': { path: '/v1/cards', newValidBody: () => ({ ...newCardData(), cvv: undefined }) },
  'a user': {
    path: '/v1/auth/users',
    newValidBody: () => ({
      email: `${randomUUID()}@example.com`,
      password: partners.password,
      firstName: 'T',
      lastName: 'N',
    }),
  },
  'a customer': { path: '/v1/auth/customers/register', newValidBody: () => ({ userId }) },
  'a login': { path: '/v1/auth/service/login', newValidBody: () => ({ ...partners.logins.get('A')! }) },
};

function encryptCardFor(reference: string): Promise<string> {
  const sessionId = `${partners.logins.get('A')!.organisationId}.${reference}`;
  return encryptCard(cardKey, { sessionId, paymentNumber: 1, expiresAt: api.clock.later(60_000).toISOString() });
}

/** Paths of all fields in a body, also of the objects and lists that contain other fields. */
function fieldPaths(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  const inside = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .flatMap(([name, member]) => fieldPaths(member, [...path, name]));
  return path.length === 0 ? inside : [[...path], ...inside];
}

function withValue(body: object, path: readonly string[], value: unknown): object {
  const copy = structuredClone(body) as Record<string, unknown>;
  let parent = copy;
  for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>;
  parent[path.at(-1)!] = value;
  return copy;
}

/** Problems of a response: an error that does not have the format of C5, or content that must not be in a response. */
function problemsOf({ status, text }: ApiResponse): string[] {
  return [
    ...(status >= 500 ? [`${status}`] : []),
    ...(status >= 400 && status !== 401 && !text.includes('"errorReference"')
      ? [`${status} without an errorReference`]
      : []),
    ...(/4242424242424242|"123"/.test(text) ? ['the response contains card data'] : []),
    ...(status >= 400 && /passwd|DROP TABLE|7\*7/.test(text) ? ['the response repeats the input'] : []),
  ];
}

/** Fields that accept any text. A password has 8 to 128 characters, every other field 1 to 100 (C6). */
const FREE_TEXT_FIELDS = new Set([
  'id',
  'orderReference',
  'firstName',
  'lastName',
  'holderName',
  'type',
  'reference',
  'password',
]);

function isValidValue(path: readonly string[], value: unknown): boolean {
  const field = path.at(-1)!;
  if (field === 'merchantLiable') return typeof value === 'boolean';
  if (field === 'vouchers') return Array.isArray(value) && value.length === 0;
  return FREE_TEXT_FIELDS.has(field) && typeof value === 'string' && value.length <= 128;
}

test.each(Object.entries(TARGETS))('%s with an invalid value in any field is refused', async (_, target) => {
  const failures: string[] = [];
  const expectValidBodyAccepted = async (): Promise<void> => {
    const response = await partners.send('A', 'A', {
      method: 'POST',
      path: target.path,
      body: await target.newValidBody(),
    });
    expect([target.path, response.status < 300, response.text]).toEqual([target.path, true, response.text]);
    invoice = await partners.createInvoice();
  };
  await expectValidBodyAccepted();
  let refusedCount = 0;
  const { testedField } = target;
  const paths = fieldPaths(await target.newValidBody()).filter(
    ([field]) => testedField === undefined || field === testedField,
  );
  expect(paths).not.toEqual([]);
  for (const path of paths) {
    for (const value of HOSTILE_VALUES) {
      const body = withValue(await target.newValidBody(), path, value);
      const response = await partners.send('A', 'A', { method: 'POST', path: target.path, body });
      const description = `${path.join('.')} = ${JSON.stringify(value).slice(0, 60)}: ${response.status} ${response.text.slice(0, 160)}`;
      for (const problem of problemsOf(response)) failures.push(`${problem}: ${description}`);
      // A login with wrong values is a failed login, not an invalid request.
      if (response.status === 401 && target !== TARGETS['a login']) failures.push(`not authenticated: ${description}`);
      if (response.status >= 300) {
        refusedCount++;
        continue;
      }
      if (!isValidValue(path, value)) failures.push(`accepted: ${description}`);
      // The request has paid the invoice, so the next payment needs another invoice.
      if (target.path === '/v1/payments') invoice = await partners.createInvoice();
    }
  }
  expect(failures).toEqual([]);
  // More than half of all requests are refused. A valid body is still accepted afterwards.
  expect(refusedCount).toBeGreaterThan((paths.length * HOSTILE_VALUES.length) / 2);
  await expectValidBodyAccepted();
});

test('an invalid value in a path, a query or a header causes neither a server error nor access', async () => {
  const texts = ['%00', '%0d%0a', '%ED%A0%80', '..', '%2e%2e%2f', "'", '%27', '*', '%', '%zz', 'x'.repeat(8_000), '💸'];
  const requests = texts.flatMap((text) => [
    ['GET', `/v1/payments/${text}`],
    ['GET', `/v1/payments?page=${text}`],
    ['GET', `/v1/payments?pageSize=${text}`],
    ['GET', `/v1/payments?customerReference=${text}`],
    ['GET', `/v1/payments?customerReference[a]=${text}&page[]=1`],
    ['GET', `/v1/codes/${text}`],
    ['GET', `/v1/codes/${Buffer.from(text).toString('base64')}`],
    ['DELETE', `/v1/cards/${text}`],
    ['GET', `/v1/verifications/${text}`],
    ['GET', `/v1/verifications/${text}/start?signature=${text}`],
  ]);
  const failures: string[] = [];
  for (const [method, path] of requests as [string, string][]) {
    const { status } = await partners.send('A', 'A', { method, path });
    if (status >= 500 || status === 401) failures.push(`${method} ${path.slice(0, 80)}: ${status}`);
  }
  const [key, token] = [partners.keys.get('A')!, partners.tokens.get('A')!];
  const headers: Record<string, string>[] = [
    { 'x-api-key': `${key}, ${key}` },
    { 'x-api-key': `${key.slice(0, -1)}` },
    { 'x-api-key': key.toUpperCase() },
    { authorization: `Bearer ${token}, Bearer ${token}` },
    { authorization: `Basic ${token}` },
    { authorization: `Bearer ${token}.${token}` },
    { authorization: `Bearer ${token.replace(/\.[^.]*$/, '.')}` },
  ];
  for (const header of headers) {
    const { status, text } = await partners.send('A', 'A', { method: 'GET', path: '/v1/payments', headers: header });
    if (status !== 401 || text !== '') failures.push(`${JSON.stringify(header).slice(0, 60)}: ${status}`);
  }
  // Headers that override the method or the path on some servers are ignored.
  for (const name of ['x-http-method-override', 'x-original-url', 'x-forwarded-prefix', 'x-rewrite-url']) {
    const response = await partners.send('B', 'B', {
      method: 'GET',
      path: '/v1/payments',
      headers: { [name]: '/admin/v1' },
    });
    if (![200, 204].includes(response.status)) failures.push(`${name}: ${response.status}`);
  }
  expect(failures).toEqual([]);
});

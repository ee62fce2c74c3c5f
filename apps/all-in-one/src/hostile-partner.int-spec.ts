/**
 * An authenticated partner sends invalid values of every kind in every field of every body. Each response names the error; nothing
 * breaks, nothing is charged, and no response contains card data.
 */
import { randomUUID } from 'node:crypto';
import type { JWK } from 'jose';
import { encryptCard } from '../test/encrypt-card.js';
import { type Answer, type MainApi, startMainApi } from '../test/main-api.js';
import { aCard, type Invoice, TwoPartners } from '../test/two-partners.js';

let api: MainApi;
let two: TwoPartners;
let invoice: Invoice;
let storedCard: string;
let userId: string;
let cardKey: JWK & { kid: string };
beforeAll(async () => {
  api = await startMainApi();
  two = await TwoPartners.onboard(api);
  invoice = await two.newInvoice();
  storedCard = await two.newCard('A');
  const user = { email: 'hostile@example.com', password: two.password };
  ({ userId } = await two.as<{ userId: string }>('A', { method: 'POST', path: '/v1/auth/users', body: user }));
  cardKey = await two.as<JWK & { kid: string }>('A', { method: 'GET', path: '/v1/cards/encryption-key' });
});
afterAll(() => api?.stop());

/** Values that are neither a whole number from 1 to 100 000 000 000 nor ordinary text. */
const HOSTILE: readonly unknown[] = [
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

interface Target {
  readonly path: string;
  /** A body that is accepted. */
  readonly body: () => Record<string, unknown> | Promise<Record<string, unknown>>;
  /** The field that no target above it has in this form; the others are not tried again. Absent: all fields are tried. */
  readonly field?: string;
}

/** Body of a payment. Only the changed field may cause a refusal, and the invoice stays unchanged. */
const payment = (over: object = {}) => ({
  reference: randomUUID(),
  invoiceReference: invoice.reference,
  amount: invoice.amount,
  tipAmount: 0,
  orderReference: 'order-1',
  customer: { id: randomUUID(), firstName: 'Thandi', lastName: 'Nkosi' },
  paymentMethod: { card: aCard() },
  returnUrl: 'https://partner.example/back',
  ...over,
});

const TARGETS: Readonly<Record<string, Target>> = {
  'a payment with a card': { path: '/v1/payments', body: payment },
  'a payment by code': {
    path: '/v1/payments',
    field: 'code',
    body: () => payment({ invoiceReference: null, code: Buffer.from(invoice.code).toString('base64') }),
  },
  'a payment with a stored card': {
    path: '/v1/payments',
    field: 'paymentMethod',
    body: () => payment({ paymentMethod: { card: { token: storedCard } } }),
  },
  'a payment with an encrypted card': {
    path: '/v1/payments',
    field: 'paymentMethod',
    body: async () => {
      const reference = randomUUID();
      return payment({ reference, paymentMethod: { card: { encryptedCard: await encryptedFor(reference) } } });
    },
  },
  'a payment made elsewhere': {
    path: '/v1/payments',
    field: 'paymentMethod',
    body: () => payment({ paymentMethod: { external: { type: 'EFT', status: 'failed', reference: 'bank-1' } } }),
  },
  'a payment with vouchers': {
    path: '/v1/payments',
    field: 'vouchers',
    body: () => payment({ vouchers: [{ merchantLiable: true, amount: 1 }] }),
  },
  'a card': { path: '/v1/cards', body: () => ({ ...aCard(), cvv: undefined }) },
  'a user': {
    path: '/v1/auth/users',
    body: () => ({ email: `${randomUUID()}@example.com`, password: two.password, firstName: 'T', lastName: 'N' }),
  },
  'a customer': { path: '/v1/auth/customers/register', body: () => ({ userId }) },
  'a login': { path: '/v1/auth/service/login', body: () => ({ ...two.logins.get('A')! }) },
};

function encryptedFor(reference: string): Promise<string> {
  const sessionId = `${two.logins.get('A')!.organisationId}.${reference}`;
  return encryptCard(cardKey, { sessionId, try: 1, expiresAt: api.clock.later(60_000).toISOString() });
}

/** Paths of all values in a body, containers included. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  const inside = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .flatMap(([name, member]) => pathsOf(member, [...path, name]));
  return path.length === 0 ? inside : [[...path], ...inside];
}

function withValue(body: object, path: readonly string[], value: unknown): object {
  const copy = structuredClone(body) as Record<string, unknown>;
  let at = copy;
  for (const name of path.slice(0, -1)) at = at[name] as Record<string, unknown>;
  at[path.at(-1)!] = value;
  return copy;
}

/** Problems of a response: an error that does not follow C5, or card data in it. */
function problemsOf({ status, text }: Answer): string[] {
  return [
    ...(status >= 500 ? [`${status}`] : []),
    ...(status >= 400 && status !== 401 && !text.includes('"errorReference"') ? [`${status} without a reason`] : []),
    ...(/4242424242424242|"123"/.test(text) ? ['it contains card data'] : []),
    ...(status >= 400 && /passwd|DROP TABLE|7\*7/.test(text) ? ['it repeats the input'] : []),
  ];
}

/** Fields that may have any text of 1 to 100 characters (C6); a password has 8 to 128 of any kind. */
const FREE_TEXT = new Set([
  'id',
  'orderReference',
  'firstName',
  'lastName',
  'holderName',
  'type',
  'reference',
  'password',
]);

function mayBe(path: readonly string[], value: unknown): boolean {
  const field = path.at(-1)!;
  if (field === 'merchantLiable') return typeof value === 'boolean';
  if (field === 'vouchers') return Array.isArray(value) && value.length === 0;
  return FREE_TEXT.has(field) && typeof value === 'string' && value.length <= 128;
}

test.each(Object.entries(TARGETS))('%s: every field with every invalid value', async (_, target) => {
  const wrong: string[] = [];
  const accepts = async (): Promise<void> => {
    const answer = await two.ask('A', 'A', { method: 'POST', path: target.path, body: await target.body() });
    expect([target.path, answer.status < 300, answer.text]).toEqual([target.path, true, answer.text]);
    invoice = await two.newInvoice();
  };
  await accepts();
  let refused = 0;
  const { field } = target;
  const paths = pathsOf(await target.body()).filter(([first]) => field === undefined || first === field);
  expect(paths).not.toEqual([]);
  for (const path of paths) {
    for (const value of HOSTILE) {
      const body = withValue(await target.body(), path, value);
      const answer = await two.ask('A', 'A', { method: 'POST', path: target.path, body });
      const what = `${path.join('.')} = ${JSON.stringify(value).slice(0, 60)}: ${answer.status} ${answer.text.slice(0, 160)}`;
      for (const problem of problemsOf(answer)) wrong.push(`${problem}: ${what}`);
      // A login with wrong values is a failed login, not an invalid request.
      if (answer.status === 401 && target !== TARGETS['a login']) wrong.push(`not let in: ${what}`);
      if (answer.status >= 300) {
        refused++;
        continue;
      }
      if (!mayBe(path, value)) wrong.push(`accepted: ${what}`);
      // The invoice is paid, and the next payment needs another one.
      if (target.path === '/v1/payments') invoice = await two.newInvoice();
    }
  }
  expect(wrong).toEqual([]);
  // Most values of each field are refused, and a valid body is still accepted.
  expect(refused).toBeGreaterThan((paths.length * HOSTILE.length) / 2);
  await accepts();
});

test('invalid values in an address or a header break nothing', async () => {
  const texts = ['%00', '%0d%0a', '%ED%A0%80', '..', '%2e%2e%2f', "'", '%27', '*', '%', '%zz', 'x'.repeat(8_000), '💸'];
  const addresses = texts.flatMap((text) => [
    ['GET', `/v1/payments/${text}`],
    ['GET', `/v1/payments?page=${text}`],
    ['GET', `/v1/payments?pageSize=${text}`],
    ['GET', `/v1/payments?customerReference=${text}`],
    ['GET', `/v1/payments?customerReference[a]=${text}&page[]=1`],
    ['GET', `/v1/codes/${text}`],
    ['GET', `/v1/codes/${Buffer.from(text).toString('base64')}`],
    ['DELETE', `/v1/cards/${text}`],
    ['GET', `/v1/verifications/${text}`],
  ]);
  const wrong: string[] = [];
  for (const [method, path] of addresses as [string, string][]) {
    const { status } = await two.ask('A', 'A', { method, path });
    if (status >= 500 || status === 401) wrong.push(`${method} ${path.slice(0, 80)}: ${status}`);
  }
  const [key, token] = [two.keys.get('A')!, two.tokens.get('A')!];
  const headers: Record<string, string>[] = [
    { 'x-api-key': `${key}, ${key}` },
    { 'x-api-key': `${key.slice(0, -1)}` },
    { 'x-api-key': key.toUpperCase() },
    { authorization: `Bearer ${token}, Bearer ${token}` },
    { authorization: `Basic ${token}` },
    { authorization: `Bearer ${token}.${token}` },
    { authorization: `Bearer ${token.replace(/\.[^.]*$/, '.')}` },
  ];
  for (const one of headers) {
    const { status, text } = await two.ask('A', 'A', { method: 'GET', path: '/v1/payments', headers: one });
    if (status !== 401 || text !== '') wrong.push(`${JSON.stringify(one).slice(0, 60)}: ${status}`);
  }
  // Method overrides and similar headers are ignored.
  for (const name of ['x-http-method-override', 'x-original-url', 'x-forwarded-prefix', 'x-rewrite-url']) {
    const answer = await two.ask('B', 'B', { method: 'GET', path: '/v1/payments', headers: { [name]: '/admin/v1' } });
    if (![200, 204].includes(answer.status)) wrong.push(`${name}: ${answer.status}`);
  }
  expect(wrong).toEqual([]);
});

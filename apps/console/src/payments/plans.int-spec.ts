import { planOf } from '@svc/testing';
import { startConsole, type TestConsole } from '../../test/console.js';
import { countChanges } from '../live-lists/count-changes.query.js';
import { MerchantRepository } from '../merchants/merchant.repository.js';
import { findSubjects } from '../operator/timeline/find-subjects.query.js';
import type { TimelineTerm } from '../operator/timeline/timeline-query.js';
import { findPayment } from '../payment/find-payment.query.js';
import { sumSales } from '../today/sum-sales.query.js';
import type { PaymentScope } from '../viewer/payment-scope.js';
import { listPayments, type PaymentFilters } from './list-payments.query.js';
import type { SearchTerm } from './search-text.js';

let app: TestConsole;
beforeAll(async () => {
  app = await startConsole();
  await app.superuser.query(SEED);
  await app.superuser.query('ANALYZE payments');
});
afterAll(() => app.stop());

/** 20 000 payments of merchant 1 at 20 sites, and ten of each of 100 other merchants, a minute between two. */
const SEED = `
  INSERT INTO payments (generation, payment_reference, version, merchant_id, mode, site_id, site_reference,
                        payment_utc_date, modified_utc_date, state, currency, amount, tip_amount, processed_amount, method,
                        method_label, last_digits, order_reference, payable_id, source, code, is_of_partner, customer_id,
                        customer_name, errors)
  SELECT 1, lpad(n::text, 18, '0'), 1, CASE WHEN n < 20000 THEN 1 ELSE 2 + n % 100 END, 'test', 1 + n % 20, 'TILL',
         at, at, CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'success' END, 'ZAR', 100 + n, 0, 0,
         CASE WHEN n % 20 = 0 THEN 'Voucher' ELSE 'Card' END, '', lpad((n % 10000)::text, 4, '0'), 'ORDER-' || n,
         md5(n::text)::uuid, 'session', lpad(n::text, 20, '0'), false, '', 'Customer ' || n % 1000, '[]'
    FROM (SELECT n, timestamptz '2026-03-01' - n * interval '1 minute' AS at FROM generate_series(0, 20999) AS n) AS seed`;
const NEWEST = new Date('2026-03-01T00:00:00Z');

const ALL: PaymentScope = { merchantId: 1, mode: 'test', sites: 'all' };
const ONE: PaymentScope = { ...ALL, sites: [2] };
const SOME: PaymentScope = { ...ALL, sites: [2, 3] };

interface Listed {
  readonly scope?: PaymentScope;
  readonly filters?: PaymentFilters;
  readonly search?: readonly SearchTerm[];
}

function planOfList({ scope = ALL, filters = {}, search }: Listed): Promise<string> {
  const after = { paymentUTCDate: new Date(NEWEST.getTime() - 86_400_000), paymentReference: '0'.repeat(18) };
  const list = () => listPayments(app.dataSource, { scope, filters, search, after, limit: 50 });
  // The other statement sums the refunds of the page.
  return planOf(app.dataSource, list, 'FROM payments');
}

const inOrder = (columns: readonly string[]): string => columns.map((column) => `\\(\\(?${column}\\)?.* `).join('AND ');
/** The generation, merchant and mode that begin each index, then the other columns of the condition. */
const condition = (...columns: string[]): string => inOrder(['merchant_id', 'mode', ...columns]);
/** The indexes of codes and cards begin with what is searched, because operators search without a merchant. */
const searched = (column: string): string => inOrder([column, 'merchant_id', 'mode']);

describe('a page of the list begins at its position in an index, in the order of the page', () => {
  it.each<[string, string, Listed, string]>([
    ['of a merchant', 'payments_newest', {}, condition()],
    ['of paid payments', 'payments_newest', { filters: { state: 'success' } }, condition()],
    ['of failed payments', 'payments_not_paid', { filters: { state: 'failed' } }, condition('state')],
    [
      'of payments that wait for the payer',
      'payments_not_paid',
      { filters: { state: 'verificationRequired' } },
      condition('state'),
    ],
    ['of vouchers', 'payments_without_card', { filters: { method: 'Voucher' } }, condition('method')],
    ['of a site', 'payments_of_site', { scope: ONE }, condition('site_id')],
    ['of some sites', 'payments_of_site', { scope: SOME }, condition('site_id')],
    ['of a code', 'payments_of_code', { search: [{ kind: 'code', value: '1' }] }, searched('code')],
    ['of a card', 'payments_of_card', { search: [{ kind: 'card', value: '4242' }] }, searched('last_digits')],
    ['of an amount', 'payments_of_amount', { search: [{ kind: 'amount', value: 100 }] }, condition('amount')],
    ['of an order', 'payments_of_order', { search: [{ kind: 'order', value: 'a' }] }, condition('lower')],
    ['of a customer', 'payments_with_customer', { search: [{ kind: 'customer', value: 'a' }] }, condition('lower')],
  ])('%s', async (_, index, listed, indexCondition) => {
    const plan = await planOfList(listed);
    expect(plan).toMatch(
      new RegExp(
        `using ${index} on payments p .*\\n\\s+Index Cond: \\(\\(generation = .*${indexCondition}.*\\(payment_utc_date >= .*ROW\\(payment_utc_date, payment_reference\\) < `,
      ),
    );
    expect(plan).not.toMatch(/Seq Scan/);
    // Only the pages of some sites are merged: as many rows as the page has for each site.
    expect(plan.includes('Sort')).toBe(listed.scope === SOME);
  });
});

test.each<[SearchTerm, string]>([
  [{ kind: 'reference', value: '0'.repeat(18) }, 'payments_pkey'],
  [{ kind: 'payable', value: '00000000-0000-0000-0000-000000000000' }, 'payments_of_payable'],
])('the search for %p reads the payments of one id', async (term, index) => {
  const plan = await planOfList({ search: [term] });
  expect(plan).toMatch(new RegExp(`using ${index} on payments p`));
  expect(plan).not.toMatch(/Seq Scan/);
});

test('the search for the beginning of an order number reads a bounded part of the index', async () => {
  const search: SearchTerm[] = [{ kind: 'order', value: 'order-' }];
  const list = (): Promise<unknown> =>
    listPayments(app.dataSource, { scope: ALL, filters: {}, search, orderBeginning: 'order-1', limit: 50 });
  const plan = await planOf(app.dataSource, list, 'FROM payments o');
  expect(plan).toMatch(/Limit [^]*Index Scan using payments_of_order on payments o /);
  expect(plan).toMatch(/Index Cond: .*generation = .*merchant_id.*mode.*~>=~.*~<~/);
  expect(plan).not.toMatch(/Seq Scan/);
});

test.each<[TimelineTerm['kind'], string, string]>([
  ['reference', '0'.repeat(18), 'payments_pkey on payments t .*payment_reference = '],
  ['payable', '00000000-0000-0000-0000-000000000000', 'payments_of_payable on payments t .*payable_id = '],
  ['code', '1', 'payments_of_code on payments t .*code = .*payment_utc_date >= '],
  ['card', '4242', 'payments_of_card on payments t .*last_digits = .*payment_utc_date >= '],
  ['order', 'a', 'payments_of_order on payments t .*merchant_id = m.*mode = .*lower'],
])('an operator’s search for a %s of all merchants is an index scan', async (kind, value, expected) => {
  const find = () => findSubjects(app.dataSource, { kind, value }, { day: '2026-02-20' }, 20);
  const plan = await planOf(app.dataSource, find, 'FROM payments');
  expect(plan.replaceAll(/\n\s+Index Cond: /g, ' ')).toMatch(new RegExp(expected));
  expect(plan).not.toMatch(/Seq Scan on payments/);
});

test('the sums of a day read the payments of the day', async () => {
  const day = { from: new Date(NEWEST.getTime() - 86_400_000), until: NEWEST };
  for (const [scope, index] of [
    [ALL, 'payments_newest'],
    [ONE, 'payments_of_site'],
  ] as const) {
    const plan = await planOf(app.dataSource, () => sumSales(app.dataSource, scope, day));
    expect(plan).toMatch(
      new RegExp(`(?:using|on) ${index} .*\\n\\s+Index Cond: .*payment_utc_date >= .*payment_utc_date < `),
    );
    expect(plan).not.toMatch(/Seq Scan/);
  }
});

test('the page of a payment, the names of a merchant, and the changes of lists are read by keys', async () => {
  const payment = await planOf(app.dataSource, () => findPayment(app.dataSource, ALL, '0'.repeat(18)));
  for (const index of ['payments_pkey', 'refunds_by_payment', 'reversals_pkey', 'disputes_by_payment'])
    expect(payment).toMatch(new RegExp(`(?:using|on) ${index}`));
  const merchants = app.service.app.get(MerchantRepository);
  const names = await planOf(app.dataSource, () => merchants.list([1, 2]));
  for (const index of ['known_merchants_pkey', 'known_sites_of_merchant'])
    expect(names).toMatch(new RegExp(`(?:using|on) ${index}`));
  const changes = await planOf(app.dataSource, () => countChanges(app.dataSource, [ALL]));
  expect(changes).toMatch(/using list_changes_pkey on list_changes/);
  for (const plan of [payment, names, changes]) expect(plan).not.toMatch(/Seq Scan on (?!generations)/);
});

/** Pages of PostgreSQL that the statement reads for a page of the list. */
async function countReadPages(after: { paymentUTCDate: Date; paymentReference: string } | undefined): Promise<number> {
  const statements = jest.spyOn(app.dataSource, 'query');
  await listPayments(app.dataSource, { scope: ALL, filters: {}, after, limit: 50 });
  const [text, parameters] = statements.mock.calls.find(([statement]) => statement.includes('FROM payments'))!;
  statements.mockRestore();
  const plan = await app.dataSource.query<{ 'QUERY PLAN': string }[]>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) ${text}`,
    parameters,
  );
  const buffers = plan.map((row) => row['QUERY PLAN']).find((line) => line.includes('Buffers: '))!;
  return [...buffers.matchAll(/=(\d+)/g)].reduce((sum, [, pages]) => sum + Number(pages), 0);
}

test('a late page of the list reads as little as the first page', async () => {
  const first = await countReadPages(undefined);
  const late = { paymentUTCDate: new Date(NEWEST.getTime() - 19_000 * 60_000), paymentReference: '0'.repeat(18) };
  expect(await countReadPages(late)).toBeLessThan(1.5 * first + 5);
});

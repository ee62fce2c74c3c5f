import { randomUUID } from 'node:crypto';
import { aPayment } from '@svc/testing';
import fc from 'fast-check';
import { type History, startHistory } from '../../test/history.js';
import { PaymentRepository } from './payment.repository.js';
import type { PaymentOwner } from './payment-owner.js';
import { pageStatement, PaymentPagesQuery } from './payment-pages.query.js';

let history: History;
let pages: PaymentPagesQuery;
let repository: PaymentRepository;
beforeAll(async () => {
  history = await startHistory();
  pages = history.service.app.get(PaymentPagesQuery);
  repository = history.service.app.get(PaymentRepository);
});
afterAll(() => history.stop());

const ownerOfAll = (organisationId: string): PaymentOwner => ({ organisationId, mode: 'test', customerKey: undefined });

test('every page of any size contains the right part of the sorted payments, of all customers or of one customer', async () => {
  // Many dates are equal, or near the limits of time buckets (64, 64², 64³ and 64⁴ seconds). Other dates are years
  // apart.
  const bucketEdge = fc.record({
    level: fc.integer({ min: 0, max: 4 }),
    multiple: fc.integer({ min: 100, max: 110 }),
    ms: fc.integer({ min: -2, max: 2 }),
  });
  const generatedDate = fc.oneof(
    bucketEdge.map(({ level, multiple, ms }) => new Date(multiple * 64 ** level * 1000 + ms)),
    fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }),
  );
  const generatedPayment = fc.record({ date: generatedDate, customer: fc.constantFrom('one', 'two') });
  /** The number of tested pages of each kind. It proves that the random payments test all kinds. */
  const pageCounts = { empty: 0, full: 0, last: 0, notFirst: 0, ofOneCustomer: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(generatedPayment, { minLength: 1, maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(),
      async (generated, limit, randomOffset) => {
        // Some offsets are greater than the number of payments.
        const offset = randomOffset % (generated.length + 5);
        const organisationId = randomUUID();
        const payments = generated.map(({ date, customer }) =>
          aPayment(organisationId, customer, { paymentUTCDate: date.toISOString() }),
        );
        await repository.upsertAll(payments.map((payment) => ({ payment, version: 1 })));
        const sorted = payments.toSorted((payment, other) =>
          `${other.paymentUTCDate} ${other.reference}`.localeCompare(
            `${payment.paymentUTCDate} ${payment.reference}`,
            'en',
          ),
        );
        const expectedPage = (customer?: string) =>
          sorted
            .filter(({ partner }) => customer === undefined || partner.customer.id === customer)
            .slice(offset, offset + limit)
            .map(({ reference }) => reference);
        const findReferences = async (owner: PaymentOwner) =>
          (await pages.find(owner, offset, limit)).map(({ reference }) => reference);
        for (const customerKey of [undefined, 'one', 'two']) {
          const page = expectedPage(customerKey);
          expect(await findReferences({ ...ownerOfAll(organisationId), customerKey })).toEqual(page);
          pageCounts[page.length === 0 ? 'empty' : page.length === limit ? 'full' : 'last']++;
          if (page.length > 0 && offset > 0) pageCounts.notFirst++;
          if (page.length > 0 && customerKey !== undefined) pageCounts.ofOneCustomer++;
        }
      },
    ),
    { numRuns: 60 },
  );
  for (const [kind, count] of Object.entries(pageCounts)) expect([kind, count >= 10]).toEqual([kind, true]);
});

test.each([
  { generation: 'a retired generation', difference: -1 },
  { generation: 'the generation being built', difference: 1 },
])('a page neither contains nor counts payments of $generation', async ({ difference }) => {
  const organisationId = randomUUID();
  const upsertPayments = async () => {
    const payments = ['2026-03-01T10:00:02.000Z', '2026-03-01T10:00:01.000Z'].map((paymentUTCDate) =>
      aPayment(organisationId, 'one', { paymentUTCDate }),
    );
    await repository.upsertAll(payments.map((payment) => ({ payment, version: 1 })));
    return payments.map(({ reference }) => reference);
  };
  await upsertPayments();
  for (const table of ['payments', 'payment_counts'])
    await history.dataSource.query(`UPDATE ${table} SET generation = generation + $2 WHERE organisation_id = $1`, [
      organisationId,
      difference,
    ]);
  const references = await upsertPayments();
  for (const offset of [0, 1, 2]) {
    const page = await pages.find(ownerOfAll(organisationId), offset, 10);
    expect(page.map(({ reference }) => reference)).toEqual(references.slice(offset));
  }
});

describe('in a long history', () => {
  const PAYMENTS = 20_000;
  const PAGE = 50;
  const organisationId = randomUUID();

  beforeAll(async () => {
    // With a payment every 5 s, each bucket of the lowest level (64 s) contains about thirteen payments.
    for (let first = 0; first < PAYMENTS; first += 1_000)
      await repository.upsertAll(
        Array.from({ length: 1_000 }, (_, i) => ({
          payment: aPayment(organisationId, 'one', {
            paymentUTCDate: new Date(Date.UTC(2026, 0, 1) + (first + i) * 5_000).toISOString(),
          }),
          version: 1,
        })),
      );
    await history.superuser.query('VACUUM ANALYZE payments, payment_counts');
  });

  /** Returns the rows that the statement reads from tables and indexes, and the buffers that it reads. */
  async function measureCost(owner: PaymentOwner, page: number): Promise<{ rows: number; buffers: number }> {
    const [{ 'QUERY PLAN': plan }] = await history.dataSource.query<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${pageStatement(owner)}`,
      [organisationId, 'test', owner.customerKey ?? '', (page - 1) * PAGE, PAGE + 1],
    );
    const root = plan[0].Plan;
    return { rows: countRowsRead(root), buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'] };
  }

  it.each([
    ['of an organisation', ownerOfAll(organisationId)],
    ['of one customer', { ...ownerOfAll(organisationId), customerKey: 'one' }],
  ])('the query for the last page %s reads about as few rows as the query for the first page', async (_, owner) => {
    const last = PAYMENTS / PAGE;
    const costs = await Promise.all([1, 2, last / 2, last].map((page) => measureCost(owner, page)));
    const lastPage = await pages.find(owner, (last - 1) * PAGE, PAGE + 1);
    expect(lastPage).toHaveLength(PAGE);
    // The statement reads the page, 64 counts of each level, and one bucket of the lowest level. A statement with only
    // OFFSET would read 20 000 rows. The limit of buffers has a tolerance.
    for (const { rows, buffers } of costs) {
      expect(rows).toBeLessThan(PAGE + 64 * 4 + 64);
      expect(buffers).toBeLessThan(1.5 * costs[0]!.buffers + 64);
    }
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

function countRowsRead(node: PlanNode): number {
  const isTableScan =
    node['Node Type'].includes('Scan') && !node['Node Type'].includes('CTE') && !node['Node Type'].includes('Subquery');
  const rowCount = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return (isTableScan ? rowCount : 0) + (node.Plans ?? []).reduce((sum, child) => sum + countRowsRead(child), 0);
}

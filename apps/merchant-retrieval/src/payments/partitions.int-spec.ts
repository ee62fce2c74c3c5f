import { paymentEvent, planOf, waitUntil } from '@svc/testing';
import { createMerchant, type Merchant, newPaymentAt, type Retrieval, startRetrieval } from '../../test/retrieval.js';
import { PaymentRepository } from './payment.repository.js';
import { PaymentPartitions } from './payment-partitions.js';

let retrieval: Retrieval;
let ours: Merchant;
beforeEach(async () => {
  retrieval = await startRetrieval();
  ours = await createMerchant(retrieval);
});
afterEach(() => retrieval.stop());

const partitions = async () =>
  (
    await retrieval.dataSource.query<{ name: string }[]>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'payments'::regclass ORDER BY 1`,
    )
  ).map(({ name }) => name);
const moveTo = (text: string) => retrieval.clock.advance(new Date(text).getTime() - retrieval.clock.now().getTime());
const runOnce = () => retrieval.service.app.get(PaymentPartitions).runOnce();

test('partitions are created from the window’s first month to two months ahead, by many replicas concurrently', async () => {
  expect(retrieval.clock.nowISO().slice(0, 7)).toBe('2026-03');
  const made = ['2025_12', '2026_01', '2026_02', '2026_03', '2026_04', '2026_05'].map((month) => `payments_${month}`);
  expect(await partitions()).toEqual(made);
  moveTo('2026-04-01T00:00:00.000Z');
  await Promise.all(Array.from({ length: 5 }, runOnce));
  expect(await partitions()).toEqual([...made, 'payments_2026_06']);
});

test('a partition is dropped when its last day is outside the window, with its payments', async () => {
  moveTo('2026-03-31T23:00:00.000Z');
  const payment = newPaymentAt(ours, retrieval.clock.now());
  await retrieval.deliver(paymentEvent(payment));
  moveTo('2026-07-01T23:59:59.999Z');
  await runOnce();
  expect(await partitions()).toContain('payments_2026_03');
  moveTo('2026-07-02T00:00:00.000Z');
  await Promise.all([runOnce(), runOnce()]);
  const left = await partitions();
  expect(left[0]).toBe('payments_2026_04');
  expect(await retrieval.dataSource.query('SELECT 1 FROM payments')).toEqual([]);
  // A payment from before the window is skipped: its partition is gone.
  await retrieval.deliver(paymentEvent(payment, 3));
  expect(await retrieval.dataSource.query('SELECT 1 FROM payments')).toEqual([]);
});

test('a replica waits longer for its turn than for a lock that blocks others', async () => {
  const { dataSource } = retrieval;
  const other = dataSource.createQueryRunner();
  await other.startTransaction();
  await other.query(`LOCK TABLE ONLY payments IN SHARE UPDATE EXCLUSIVE MODE`);
  const made = runOnce();
  await waitUntil('it to have waited longer', 10_000, async () => {
    const [row] = await dataSource.query<[{ waits: boolean }]>(
      `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
                         AND wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '2.2 s') AS waits`,
    );
    return row.waits;
  });
  await other.commitTransaction();
  await other.release();
  await expect(made).resolves.toBeUndefined();
});

describe('plans for empty tables that were never analysed', () => {
  const finders = {
    invoice: (payments: PaymentRepository, siteId?: number) =>
      payments.findByInvoice({ merchantId: 1, mode: 'test', siteId }, 'x'),
    'external reference': (payments: PaymentRepository, siteId?: number) =>
      payments.findByExternalReference({ merchantId: 1, mode: 'test', siteId }, 'x'),
    id: (payments: PaymentRepository, siteId?: number) =>
      payments.findByPaymentReference({ merchantId: 1, mode: 'test', siteId }, 'x'),
  };
  const plan = (finder: keyof typeof finders, siteId?: number) =>
    planOf(retrieval.dataSource, () => finders[finder](retrieval.service.app.get(PaymentRepository), siteId));
  /** Months of the partitions that are read. */
  const monthsOf = (text: string) => [...text.matchAll(/ on payments_(\d{4}_\d{2}) p_\d+ /g)].map(([, month]) => month);

  test.each([
    ['invoice', 'invoice_reference'],
    ['external reference', 'external_reference'],
  ] as const)('by %s: an index scan on the month of the day, or on two', async (finder, column) => {
    moveTo('2026-03-15T10:00:00.000Z');
    for (const siteId of [undefined, 5]) {
      const text = await plan(finder, siteId);
      expect(monthsOf(text)).toEqual(['2026_03']);
      expect(text).toMatch(
        new RegExp(
          `Index Cond: \\(\\(generation = .*\\) AND \\(merchant_id = .*\\) AND \\(mode = .*\\) AND \\(${column} = .*\\) AND \\(payment_utc_date >= `,
        ),
      );
      // Nor a sort: the index has the order of the answer.
      expect(text).not.toMatch(/Seq Scan on payments|Bitmap|Sort/);
    }
    moveTo('2026-04-01T09:00:00.000Z');
    await runOnce();
    expect(monthsOf(await plan(finder)).toSorted()).toEqual(['2026_03', '2026_04']);
  });

  test('by id: an index scan on each month of the window', async () => {
    moveTo('2026-03-15T10:00:00.000Z');
    const text = await plan('id');
    expect(monthsOf(text).toSorted()).toEqual(['2025_12', '2026_01', '2026_02', '2026_03']);
    expect(
      text.match(/Index Cond: \(\(generation = .*\) AND \(payment_reference = .*\) AND \(payment_utc_date >= /g),
    ).toHaveLength(4);
    expect(text).not.toMatch(/Seq Scan on payments|Bitmap/);
  });
});

import { holdLocks, paymentEvent, planOf, waitUntil } from '@svc/testing';
import { createMerchant, type Merchant, newPaymentAt, type Retrieval, startRetrieval } from '../../test/retrieval.js';
import { PaymentRepository } from './payment.repository.js';
import { PaymentPartitions } from './payment-partitions.js';

let retrieval: Retrieval;
let merchant: Merchant;
beforeEach(async () => {
  retrieval = await startRetrieval();
  merchant = await createMerchant(retrieval);
});
afterEach(() => retrieval.stop());

const listPartitions = async () =>
  (
    await retrieval.dataSource.query<{ name: string }[]>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'payments'::regclass ORDER BY 1`,
    )
  ).map(({ name }) => name);
const setClock = (text: string) => retrieval.clock.advance(new Date(text).getTime() - retrieval.clock.now().getTime());
const runStep = () => retrieval.service.app.get(PaymentPartitions).runStep();

test('partitions exist from the month three months ago to two months ahead, even if replicas create them concurrently', async () => {
  expect(retrieval.clock.nowISO().slice(0, 7)).toBe('2026-03');
  const expectedPartitions = ['2025_12', '2026_01', '2026_02', '2026_03', '2026_04', '2026_05'].map(
    (month) => `payments_${month}`,
  );
  expect(await listPartitions()).toEqual(expectedPartitions);
  setClock('2026-04-01T00:00:00.000Z');
  await Promise.all(Array.from({ length: 5 }, runStep));
  expect(await listPartitions()).toEqual([...expectedPartitions, 'payments_2026_06']);
});

test('a partition and its payments are dropped one day after all its payments are older than three months', async () => {
  setClock('2026-03-31T23:00:00.000Z');
  const payment = newPaymentAt(merchant, retrieval.clock.now());
  await retrieval.deliver(paymentEvent(payment));
  setClock('2026-07-01T23:59:59.999Z');
  await runStep();
  expect(await listPartitions()).toContain('payments_2026_03');
  setClock('2026-07-02T00:00:00.000Z');
  await Promise.all([runStep(), runStep()]);
  const remaining = await listPartitions();
  expect(remaining[0]).toBe('payments_2026_04');
  expect(await retrieval.dataSource.query('SELECT 1 FROM payments')).toEqual([]);
  // A payment that is older than three months is not stored, because its partition was dropped.
  await retrieval.deliver(paymentEvent(payment, 3));
  expect(await retrieval.dataSource.query('SELECT 1 FROM payments')).toEqual([]);
});

test('a replica waits longer than its lock timeout of two seconds while another replica creates partitions', async () => {
  const { dataSource } = retrieval;
  await using lock = await holdLocks(dataSource, `LOCK TABLE ONLY payments IN SHARE UPDATE EXCLUSIVE MODE`);
  const creating = runStep();
  await waitUntil('the replica to wait for more than two seconds', 10_000, async () => {
    const [row] = await dataSource.query<[{ waits: boolean }]>(
      `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
                         AND wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '2.2 s') AS waits`,
    );
    return row.waits;
  });
  await lock.release();
  await expect(creating).resolves.toBeUndefined();
});

describe('a query', () => {
  const finders = {
    invoice: (payments: PaymentRepository, siteId?: number) =>
      payments.findByInvoice({ merchantId: 1, mode: 'test', siteId }, 'x'),
    'external reference': (payments: PaymentRepository, siteId?: number) =>
      payments.findByExternalReference({ merchantId: 1, mode: 'test', siteId }, 'x'),
    id: (payments: PaymentRepository, siteId?: number) =>
      payments.findByPaymentReference({ merchantId: 1, mode: 'test', siteId }, 'x'),
  };
  const searchOf = (times: { from?: Date; until?: Date }, siteId?: number) =>
    planOf(retrieval.dataSource, () =>
      retrieval.service.app
        .get(PaymentRepository)
        .search(
          { merchantId: 1, mode: 'test', siteId },
          { orderId: 'x', from: undefined, until: undefined, after: undefined, ...times },
        ),
    );
  const explain = (finder: keyof typeof finders, siteId?: number) =>
    planOf(retrieval.dataSource, () => finders[finder](retrieval.service.app.get(PaymentRepository), siteId));
  /** Returns the months of the partitions that a plan reads. */
  const monthsOf = (text: string) => [...text.matchAll(/ on payments_(\d{4}_\d{2}) p_\d+ /g)].map(([, month]) => month);

  test.each([
    ['invoice', 'invoice_reference'],
    ['external reference', 'external_reference'],
  ] as const)('by %s scans an index of each month in the window of 24 hours', async (finder, column) => {
    setClock('2026-03-15T10:00:00.000Z');
    for (const siteId of [undefined, 5]) {
      const text = await explain(finder, siteId);
      expect(monthsOf(text)).toEqual(['2026_03']);
      expect(text).toMatch(
        new RegExp(
          `Index Cond: \\(\\(generation = .*\\) AND \\(merchant_id = .*\\) AND \\(mode = .*\\) AND \\(${column} = .*\\) AND \\(payment_utc_date >= `,
        ),
      );
      // The index has the order of the result, so there is no sort.
      expect(text).not.toMatch(/Seq Scan on payments|Bitmap|Sort/);
    }
    setClock('2026-04-01T09:00:00.000Z');
    await runStep();
    expect(monthsOf(await explain(finder)).toSorted()).toEqual(['2026_03', '2026_04']);
  });

  test('that searches by order scans the index of each month, in the order of the result, also for one site (M9)', async () => {
    setClock('2026-03-15T10:00:00.000Z');
    for (const siteId of [undefined, 5]) {
      const text = await searchOf({}, siteId);
      expect(monthsOf(text)).toEqual(['2026_03', '2026_02', '2026_01', '2025_12']);
      const ofSite = siteId === undefined ? '' : String.raw` AND \(site_id = .*\)`;
      const condition = new RegExp(
        String.raw`Index Cond: \(\(generation = .*\) AND \(merchant_id = .*\) AND \(mode = .*\) AND \(external_reference = .*\) AND \(payment_utc_date >= .*\) AND \(payment_utc_date < .*\) AND \(ROW\(payment_utc_date, payment_reference\) < ROW\(.*\)\)${ofSite}\)$`,
        'gm',
      );
      expect(text.match(condition)).toHaveLength(4);
      // The list ends with the page, so months before it are not read.
      expect(text).toMatch(/^ *Limit/m);
      expect(text).not.toMatch(/Seq Scan on payments|Bitmap|Sort|Filter/);
    }
    const february = { from: new Date('2026-02-03T00:00:00.000Z'), until: new Date('2026-02-04T00:00:00.000Z') };
    expect(monthsOf(await searchOf(february))).toEqual(['2026_02']);
  });

  test('by payment id scans an index of each month in the window of three months', async () => {
    setClock('2026-03-15T10:00:00.000Z');
    const text = await explain('id');
    expect(monthsOf(text).toSorted()).toEqual(['2025_12', '2026_01', '2026_02', '2026_03']);
    expect(
      text.match(/Index Cond: \(\(generation = .*\) AND \(payment_reference = .*\) AND \(payment_utc_date >= /g),
    ).toHaveLength(4);
    expect(text).not.toMatch(/Seq Scan on payments|Bitmap/);
  });
});

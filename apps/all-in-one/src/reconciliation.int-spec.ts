/**
 * A book is a service's set of records of the payments. After a day of payments in all services, all books agree. When
 * a test changes a row by SQL, the reconciliation reports that row.
 */
import { manualChanges } from '../test/reconciliation/manual-changes.js';
import { ReconciledDay, type ReportedDifference, type StatementLine } from '../test/reconciliation/reconciled-day.js';

let reconciledDay: ReconciledDay;
beforeAll(async () => {
  reconciledDay = await ReconciledDay.simulate();
});
afterAll(() => reconciledDay?.api.stop());

const merchantIdOf = (site: 'site 1' | 'site of merchant 2'): number =>
  Number(reconciledDay.merchants.siteIds.get(site)!.merchantId);

test('after a day of payments the report has the right totals and no difference between the services', async () => {
  const { merchants, listedDifferences, differences, open, isWholeDay } = await reconciledDay.reconcile();
  expect(listedDifferences).toEqual([]);
  // The day is not over, so it must be reconciled again.
  expect([differences, open, isWholeDay]).toEqual([0, 0, false]);
  const noDifferences = Object.fromEntries(
    ['payments', 'ledger', 'acquirer', 'notifications', 'webhooks', 'stream', 'retrieval', 'history', 'sessions'].map(
      (name) => [name, 0],
    ),
  );
  const emptyTotals = {
    failed: 0,
    pending: 0,
    unknown: 0,
    refunds: 0,
    refunded: 0,
    refundsPending: 0,
    unsettled: 0,
    undelivered: 0,
    books: noDifferences,
  };
  const onePayment = { ...emptyTotals, payments: 1, processed: 12_345 };
  expect(merchants).toEqual([
    {
      ...emptyTotals,
      merchantId: 1001,
      mode: 'test',
      payments: 3,
      processed: 3 * 8_950 - 2_345 + 777 + 333,
      failed: 1,
    },
    // No notification is delivered in this test. A payment has one for its session and one for its site, a refund one
    // for its site.
    { ...onePayment, merchantId: merchantIdOf('site 1'), mode: 'live', undelivered: 2 },
    {
      ...emptyTotals,
      merchantId: merchantIdOf('site 1'),
      mode: 'test',
      // One payment, of a till's invoice with a tip, has neither a session nor a partner.
      payments: 4,
      processed: 3 * 12_345 + 8_950 + 1_050,
      refunds: 3,
      refunded: 1_500 + 9_000,
      // The disputed payment has two, and each of the three changes of its dispute one.
      undelivered: 13,
    },
    { ...onePayment, merchantId: merchantIdOf('site of merchant 2'), mode: 'test', undelivered: 1 },
  ]);
});

describe('the reconciliation', () => {
  test.each(manualChanges())('reports $title', async ({ service, table, statement, difference }) => {
    const { undo } = await reconciledDay.changeTable(service, table, statement);
    try {
      const { listedDifferences, differences } = await reconciledDay.reconcile();
      expect(listedDifferences[0]).toMatchObject(difference);
      expect(differences).toBe(listedDifferences.length);
      // The transfers of a deleted payment do not contain its reference.
      const isDeletedPayment = difference.book === 'payments' && difference.kind === 'missing';
      expect(
        listedDifferences.filter(({ book }) => book !== difference.book && !(isDeletedPayment && book === 'ledger')),
      ).toEqual([]);
    } finally {
      await undo();
    }
  });

  test.each<[string, (lines: StatementLine[]) => StatementLine[], Partial<ReportedDifference>]>([
    [
      'a changed amount',
      ([line, ...rest]) => [{ ...line!, amount: line!.amount + 1 }, ...rest],
      { kind: 'differs', field: 'amount' },
    ],
    [
      'a changed reference',
      ([line, ...rest]) => [{ ...line!, acquirerReference: 'another-reference' }, ...rest],
      { kind: 'differs', field: 'acquirerReference' },
    ],
    ['a missing line', ([, ...rest]) => rest, { kind: 'missing' }],
    ['a duplicate line', ([line, ...rest]) => [line!, line!, ...rest], { kind: 'unexpected' }],
    [
      'a line with an unknown idempotency key',
      ([line, ...rest]) => [{ ...line!, idempotencyKey: 'unknown-key' }, line!, ...rest],
      { kind: 'unexpected' },
    ],
  ])('reports %s in the acquirer’s statement', async (_, changeLines, expected) => {
    const { acquirer } = reconciledDay;
    const readStatement = acquirer.readStatement.bind(acquirer);
    acquirer.readStatement = async (day, account, next) => {
      const page = await readStatement(day, account, next);
      const isTestedAccount =
        account.accountReference === `merchant-${merchantIdOf('site 1')}` && account.mode === 'test';
      return page && isTestedAccount && page.lines.length > 0 ? { ...page, lines: changeLines([...page.lines]) } : page;
    };
    try {
      const { listedDifferences } = await reconciledDay.reconcile();
      expect(listedDifferences).toHaveLength(1);
      expect(listedDifferences[0]).toMatchObject({
        book: 'acquirer',
        merchantId: merchantIdOf('site 1'),
        mode: 'test',
        ...expected,
      });
    } finally {
      acquirer.readStatement = readStatement;
    }
  });

  test('does not report a deleted row of merchant 2 when it compares only merchant 1', async () => {
    const ofMerchant2 = `merchant_id = ${merchantIdOf('site of merchant 2')}`;
    const { undo } = await reconciledDay.changeTable(
      'merchant-retrieval',
      'notifications',
      `DELETE FROM notifications WHERE ${ofMerchant2}`,
    );
    try {
      const [merchant1, merchant2] = [
        await reconciledDay.reconcile({ merchantId: merchantIdOf('site 1') }),
        await reconciledDay.reconcile({ merchantId: merchantIdOf('site of merchant 2') }),
      ];
      expect([merchant1.differences, merchant1.merchants.map(({ mode }) => mode)]).toEqual([0, ['live', 'test']]);
      expect(merchant2.listedDifferences).toMatchObject([{ book: 'stream', kind: 'missing', mode: 'test' }]);
    } finally {
      await undo();
    }
  });
});

test('a payment that the bank charges after midnight, and its refund, cause no difference on either day', async () => {
  const { api } = reconciledDay;
  api.clock.advance(Date.parse('2026-03-01T23:59:59.500Z') - api.clock.now().getTime());
  const { acquirer } = reconciledDay;
  const charge = acquirer.charge.bind(acquirer);
  acquirer.charge = (...args) => {
    api.clock.advance(1_000);
    return charge(...args);
  };
  const { paymentReference } = await reconciledDay.merchants.createPaidSession('site 1');
  acquirer.charge = charge;
  await reconciledDay.refund(paymentReference, 100);
  await reconciledDay.relayEverything();
  const [firstDay, secondDay] = [await reconciledDay.reconcile(), await reconciledDay.reconcile({ day: '2026-03-02' })];
  expect([firstDay.listedDifferences, secondDay.listedDifferences]).toEqual([[], []]);
  expect([firstDay, secondDay].map(({ open, isWholeDay }) => [open, isWholeDay])).toEqual([
    [0, true],
    [0, false],
  ]);
  const totalsOf = ({ merchants }: typeof firstDay) =>
    merchants.find(({ merchantId, mode }) => merchantId === merchantIdOf('site 1') && mode === 'test');
  expect([totalsOf(firstDay), totalsOf(secondDay)]).toMatchObject([
    { payments: 5, refunds: 3 },
    { payments: 0, refunds: 1 },
  ]);
});

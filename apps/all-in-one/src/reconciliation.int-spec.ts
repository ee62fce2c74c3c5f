/** After a day of mixed payments in all services, all books agree. The reconciliation reports every row that is changed by SQL. */
import { manualChanges } from '../test/books/manual-changes.js';
import { type NamedDifference, ReconciledDay, type StatementLine } from '../test/books/reconciled-day.js';

let books: ReconciledDay;
beforeAll(async () => {
  books = await ReconciledDay.trade();
});
afterAll(() => books?.api.stop());

const merchantOf = (site: 'site 1' | 'site of merchant 2'): number =>
  Number(books.merchants.numbers.get(site)!.merchantId);

test('all books agree, and the report has the right totals', async () => {
  const { merchants, named, differences, open } = await books.reconcile();
  expect(named).toEqual([]);
  // The day is not over, so it must be reconciled again.
  expect([differences, open]).toEqual([0, 1]);
  const agree = Object.fromEntries(
    ['payments', 'ledger', 'acquirer', 'notifications', 'webhooks', 'stream', 'retrieval', 'history', 'sessions'].map(
      (name) => [name, 0],
    ),
  );
  const none = {
    failed: 0,
    pending: 0,
    unknown: 0,
    refunds: 0,
    refunded: 0,
    refundsPending: 0,
    undelivered: 0,
    books: agree,
  };
  const one = { ...none, payments: 1, processed: 12_345 };
  expect(merchants).toEqual([
    { ...none, merchantId: 1001, mode: 'test', payments: 3, processed: 3 * 8_950 - 2_345, failed: 1 },
    // This test delivers no notifications: those of the session, and those of the site with its refunds.
    { ...one, merchantId: merchantOf('site 1'), mode: 'live', undelivered: 2 },
    {
      ...none,
      merchantId: merchantOf('site 1'),
      mode: 'test',
      // The last payment, of a till's invoice with a tip, has neither a session nor a partner.
      payments: 3,
      processed: 2 * 12_345 + 8_950 + 1_050,
      refunds: 3,
      refunded: 1_500 + 9_000,
      undelivered: 8,
    },
    { ...one, merchantId: merchantOf('site of merchant 2'), mode: 'test', undelivered: 1 },
  ]);
});

describe('a manual change', () => {
  test.each(manualChanges())('$what is found and named', async ({ service, table, statement, named: expected }) => {
    const { undo } = await books.tamper(service, table, statement);
    try {
      const { named, differences } = await books.reconcile();
      expect(named[0]).toMatchObject(expected);
      expect(differences).toBe(named.length);
      // The transfers of a deleted payment do not contain its reference.
      const isGone = expected.book === 'payments' && expected.kind === 'missing';
      expect(named.filter(({ book }) => book !== expected.book && !(isGone && book === 'ledger'))).toEqual([]);
    } finally {
      await undo();
    }
  });

  test.each<[string, (lines: StatementLine[]) => StatementLine[], Partial<NamedDifference>]>([
    [
      'an amount',
      ([line, ...rest]) => [{ ...line!, amount: line!.amount + 1 }, ...rest],
      { kind: 'differs', field: 'amount' },
    ],
    [
      'a reference',
      ([line, ...rest]) => [{ ...line!, acquirerReference: 'x' }, ...rest],
      { kind: 'differs', field: 'acquirerReference' },
    ],
    ['a line that is missing', ([, ...rest]) => rest, { kind: 'missing' }],
    ['a line that came twice', ([line, ...rest]) => [line!, line!, ...rest], { kind: 'unexpected' }],
    [
      'a movement that nobody knows',
      ([line, ...rest]) => [{ ...line!, idempotencyKey: 'by hand' }, line!, ...rest],
      { kind: 'unexpected' },
    ],
  ])('the acquirer’s statement: %s is found and named', async (_, change, expected) => {
    const { acquirer } = books;
    const read = acquirer.readStatement.bind(acquirer);
    acquirer.readStatement = async (day, account, next) => {
      const page = await read(day, account, next);
      const isOne = account.accountReference === `merchant-${merchantOf('site 1')}` && account.mode === 'test';
      return page && isOne && page.lines.length > 0 ? { ...page, lines: change([...page.lines]) } : page;
    };
    try {
      const { named } = await books.reconcile();
      expect(named).toHaveLength(1);
      expect(named[0]).toMatchObject({ book: 'acquirer', merchantId: merchantOf('site 1'), mode: 'test', ...expected });
    } finally {
      acquirer.readStatement = read;
    }
  });

  test('is reported only for its merchant, if the request is for one merchant', async () => {
    const ofOther = `merchant_id = ${merchantOf('site of merchant 2')}`;
    const { undo } = await books.tamper('merchant-retrieval', 'notices', `DELETE FROM notices WHERE ${ofOther}`);
    try {
      const [mine, others] = [
        await books.reconcile({ merchantId: merchantOf('site 1') }),
        await books.reconcile({ merchantId: merchantOf('site of merchant 2') }),
      ];
      expect([mine.differences, mine.merchants.map(({ mode }) => mode)]).toEqual([0, ['live', 'test']]);
      expect(others.named).toMatchObject([{ book: 'stream', kind: 'missing', mode: 'test' }]);
    } finally {
      await undo();
    }
  });
});

test('a payment that the bank charges after midnight, and its refund, cause no difference on either day', async () => {
  const { api } = books;
  api.clock.advance(Date.parse('2026-03-01T23:59:59.500Z') - api.clock.now().getTime());
  const { acquirer } = books;
  const charge = acquirer.charge.bind(acquirer);
  acquirer.charge = (...given) => {
    api.clock.advance(1_000);
    return charge(...given);
  };
  const { paymentReference } = await books.merchants.newPaidSession('site 1');
  acquirer.charge = charge;
  await books.refund(paymentReference, 100);
  await books.settle();
  const [before, after] = [await books.reconcile(), await books.reconcile({ day: '2026-03-02' })];
  expect([before.named, after.named]).toEqual([[], []]);
  expect([before.open, after.open]).toEqual([0, 1]);
  const rowOf = ({ merchants }: typeof before) =>
    merchants.find(({ merchantId, mode }) => merchantId === merchantOf('site 1') && mode === 'test');
  expect([rowOf(before), rowOf(after)]).toMatchObject([
    { payments: 4, refunds: 3 },
    { payments: 0, refunds: 1 },
  ]);
});

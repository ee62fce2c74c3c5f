/** A day of mixed trade in all services: every book agrees, and a row that is written into any of them by hand is found and named. */
import { BooksOfADay, type Named, type StatementLine } from '../test/books/books-of-a-day.js';
import { rowsByHand } from '../test/books/rows-by-hand.js';

let books: BooksOfADay;
beforeAll(async () => {
  books = await BooksOfADay.trade();
});
afterAll(() => books?.api.stop());

const merchantOf = (site: 'site 1' | 'site of merchant 2'): number =>
  Number(books.merchants.numbers.get(site)!.merchantId);

test('all books agree, and the table counts what there is', async () => {
  const { merchants, named, differences, open } = await books.reconcile();
  expect(named).toEqual([]);
  // The day is not over, so it has to be looked at again.
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
    // Notifications are not delivered in this test: of the session, and of the site with its refunds.
    { ...one, merchantId: merchantOf('site 1'), mode: 'live', undelivered: 2 },
    {
      ...none,
      merchantId: merchantOf('site 1'),
      mode: 'test',
      // The last one is an invoice of a till, paid with a tip by a phone: no session has it, and no partner.
      payments: 3,
      processed: 2 * 12_345 + 8_950 + 1_050,
      refunds: 3,
      refunded: 1_500 + 9_000,
      undelivered: 8,
    },
    { ...one, merchantId: merchantOf('site of merchant 2'), mode: 'test', undelivered: 1 },
  ]);
});

describe('written by hand', () => {
  test.each(rowsByHand())('$what is found and named', async ({ service, table, statement, named: expected }) => {
    const { undo } = await books.tamper(service, table, statement);
    try {
      const { named, differences } = await books.reconcile();
      expect(named[0]).toMatchObject(expected);
      expect(differences).toBe(named.length);
      // The transfers of a payment that is gone cannot say which one it was.
      const isGone = expected.book === 'payments' && expected.kind === 'missing';
      expect(named.filter(({ book }) => book !== expected.book && !(isGone && book === 'ledger'))).toEqual([]);
    } finally {
      await undo();
    }
  });

  test.each<[string, (lines: StatementLine[]) => StatementLine[], Partial<Named>]>([
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

  test('is found for its merchant alone where one is asked for', async () => {
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

test('a payment that the bank takes after midnight, and what is refunded then, is on no day a difference', async () => {
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

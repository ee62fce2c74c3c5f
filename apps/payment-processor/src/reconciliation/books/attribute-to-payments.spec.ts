import { attributeToPayments } from './attribute-to-payments.js';
import type { BookName } from './books.js';
import type { BookDifference } from './compare-books.js';

/** A difference between the payments and a book: the ledger, the acquirer's statement or a copy in another service. */
const buildDifference = (book: BookName, overrides: Partial<BookDifference> = {}): BookDifference => ({
  ...{ book, merchantId: 1001, mode: 'test', key: 'REF', kind: 'differs', field: 'amount', expected: 7, found: 5 },
  ...overrides,
});

it('a difference in one book is attributed to that book', () => {
  const differences = [buildDifference('ledger', { key: 'REF capture' })];
  expect(attributeToPayments(differences)).toEqual(differences);
});

it('the same difference in books of two services is attributed to the payments once, with expected and found swapped', () => {
  const differences = [
    buildDifference('ledger', { key: 'REF capture' }),
    buildDifference('acquirer', { key: 'REF charge 1' }),
    buildDifference('stream'),
  ];
  expect(attributeToPayments(differences)).toEqual([
    buildDifference('ledger', { key: 'REF', expected: 5, found: 7, book: 'payments' }),
  ]);
});

it('a row that only the books contain is reported as missing in the payments', () => {
  const unexpected = { kind: 'unexpected', field: null } as const;
  expect(
    attributeToPayments([buildDifference('retrieval', unexpected), buildDifference('history', unexpected)]),
  ).toMatchObject([{ book: 'payments', kind: 'missing' }]);
});

it.each(['ledger', 'acquirer'] as const)(
  'a row that is missing in two books, one of them the %s, is reported as unexpected in the payments',
  (book) => {
    const missing = { kind: 'missing', field: null } as const;
    expect(attributeToPayments([buildDifference(book, missing), buildDifference('history', missing)])).toMatchObject([
      { book: 'payments', kind: 'unexpected' },
    ]);
  },
);

it('differences in two fields of one payment are attributed to the payments as one difference, the first', () => {
  const differences = [
    buildDifference('ledger'),
    buildDifference('history', { field: 'state', expected: 'a', found: 'b' }),
  ];
  expect(attributeToPayments(differences)).toMatchObject([
    { book: 'payments', field: 'amount', expected: 5, found: 7 },
  ]);
});

it.each<[string, BookDifference[]]>([
  ['differences in two books of merchant-retrieval', [buildDifference('stream'), buildDifference('retrieval')]],
  ['differences in two books of webhook-dispatcher', [buildDifference('notifications'), buildDifference('webhooks')]],
  [
    'rows that are missing in all books that depend on events',
    [buildDifference('history', { kind: 'missing' }), buildDifference('sessions', { kind: 'missing' })],
  ],
  ['differences of different payments', [buildDifference('stream'), buildDifference('sessions', { key: 'OTHER' })]],
  [
    'differences of different merchants',
    [buildDifference('stream'), buildDifference('sessions', { merchantId: 1002 })],
  ],
  ['differences of different modes', [buildDifference('stream'), buildDifference('sessions', { mode: 'live' })]],
])('%s are not attributed to the payments', (_, differences) =>
  expect(attributeToPayments(differences)).toEqual(differences),
);

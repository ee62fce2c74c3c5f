import { attributeToPayments } from './blame.js';
import type { BookName } from './books.js';
import type { BookDifference } from './compare-books.js';

const aDifference = (book: BookName, over: Partial<BookDifference> = {}): BookDifference => ({
  ...{ book, merchantId: 1001, mode: 'test', key: 'REF', kind: 'differs', field: 'amount', expected: 7, found: 5 },
  ...over,
});

it('a difference in one book is attributed to that book', () => {
  const differences = [aDifference('ledger', { key: 'REF capture' })];
  expect(attributeToPayments(differences)).toEqual(differences);
});

it('the same difference in books of two services is attributed to the payments, once and inverted', () => {
  const differences = [
    aDifference('ledger', { key: 'REF capture' }),
    aDifference('acquirer', { key: 'REF charge 1' }),
    aDifference('stream'),
  ];
  expect(attributeToPayments(differences)).toEqual([
    aDifference('ledger', { key: 'REF', expected: 5, found: 7, book: 'payments' }),
  ]);
});

it('a payment that is in the books but not in the payments is missing in the payments, and vice versa', () => {
  const unexpected = { kind: 'unexpected', field: null } as const;
  expect(attributeToPayments([aDifference('retrieval', unexpected), aDifference('history', unexpected)])).toMatchObject(
    [{ book: 'payments', kind: 'missing' }],
  );
  const missing = { kind: 'missing', field: null } as const;
  expect(attributeToPayments([aDifference('ledger', missing), aDifference('history', missing)])).toMatchObject([
    { book: 'payments', kind: 'unexpected' },
  ]);
});

it.each<[string, BookDifference[]]>([
  ['two books of one service', [aDifference('stream'), aDifference('retrieval')]],
  [
    'events that have not arrived anywhere',
    [aDifference('history', { kind: 'missing' }), aDifference('sessions', { kind: 'missing' })],
  ],
  ['different payments', [aDifference('stream'), aDifference('sessions', { key: 'OTHER' })]],
  ['different merchants', [aDifference('stream'), aDifference('sessions', { merchantId: 1002 })]],
  ['test and live', [aDifference('stream'), aDifference('sessions', { mode: 'live' })]],
])('%s are not attributed to the payments', (_, differences) =>
  expect(attributeToPayments(differences)).toEqual(differences),
);

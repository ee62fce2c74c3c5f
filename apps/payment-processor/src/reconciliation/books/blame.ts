import type { BookName } from './books.js';
import type { BookDifference } from './compare-books.js';

/** Service of each book: two books of one service may both lag, or both be restored from one backup. */
const SERVICE_OF_BOOK: Readonly<Record<BookName, string>> = {
  ledger: 'ledger',
  acquirer: 'acquirer',
  notifications: 'webhook-dispatcher',
  webhooks: 'webhook-dispatcher',
  stream: 'merchant-retrieval',
  retrieval: 'merchant-retrieval',
  history: 'payment-history',
  sessions: 'hosted-gateway',
};
/** They do not depend on events, so they never lag. */
const WITHOUT_EVENTS: readonly string[] = ['ledger', 'acquirer'];

/**
 * Each book is compared with the payments. When books of two services contradict a payment in the same way, the payment was
 * changed: then one difference names the payments instead of the books. A missing row may still be in transit to all books,
 * unless a book that does not depend on events lacks it.
 */
export function attributeToPayments(differences: readonly BookDifference[]): BookDifference[] {
  const services = new Map<string, Set<string>>();
  for (const difference of differences) {
    const name = nameOf(difference);
    services.set(name, (services.get(name) ?? new Set()).add(SERVICE_OF_BOOK[difference.book as BookName]));
  }
  const isAttributed = (difference: BookDifference): boolean => {
    const contradicting = services.get(nameOf(difference)) ?? new Set();
    if (contradicting.size < 2) return false;
    return difference.kind !== 'missing' || WITHOUT_EVENTS.some((service) => contradicting.has(service));
  };
  const attributed = new Map<string, BookDifference>();
  for (const difference of differences.filter(isAttributed)) {
    const name = nameOf(difference);
    if (!attributed.has(name)) attributed.set(name, asOfPayments(difference));
  }
  return [...attributed.values(), ...differences.filter((difference) => !isAttributed(difference))];
}

/** The keys of ledger, statement and notices begin with the payment's reference, and have further parts. */
function nameOf({ merchantId, mode, kind, key }: BookDifference): string {
  return [merchantId, mode, kind, key.split(/[ /#]/)[0]].join(' ');
}

function asOfPayments({ kind, key, expected, found, ...difference }: BookDifference): BookDifference {
  const inverse = { missing: 'unexpected', unexpected: 'missing', differs: 'differs' } as const;
  return {
    ...difference,
    key: key.split(/[ /#]/)[0]!,
    book: 'payments',
    kind: inverse[kind],
    expected: found,
    found: expected,
  };
}

import type { BookName } from './books.js';
import type { BookDifference } from './compare-books.js';

/**
 * Service of each book. Two books of one service do not confirm each other, because both may lag or may be restored
 * from the same backup.
 */
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
/** Books that do not depend on events, so they never lag behind the payments. */
const WITHOUT_EVENTS: readonly string[] = ['ledger', 'acquirer'];

/**
 * Each book is compared with the payments. When books of at least two services contradict a payment in the same way,
 * the payment itself was changed. In this case one difference for the book `payments` replaces the differences of the
 * other books. A row that is missing only in books that depend on events may still be in transit, so such differences
 * are not attributed to the payments.
 */
export function attributeToPayments(differences: readonly BookDifference[]): BookDifference[] {
  const services = new Map<string, Set<string>>();
  for (const difference of differences) {
    const groupKey = buildGroupKey(difference);
    services.set(groupKey, (services.get(groupKey) ?? new Set()).add(SERVICE_OF_BOOK[difference.book as BookName]));
  }
  const isAttributed = (difference: BookDifference): boolean => {
    const contradicting = services.get(buildGroupKey(difference)) ?? new Set();
    if (contradicting.size < 2) return false;
    return difference.kind !== 'missing' || WITHOUT_EVENTS.some((service) => contradicting.has(service));
  };
  const attributed = new Map<string, BookDifference>();
  for (const difference of differences.filter(isAttributed)) {
    const groupKey = buildGroupKey(difference);
    if (!attributed.has(groupKey)) attributed.set(groupKey, invertDifference(difference));
  }
  return [...attributed.values(), ...differences.filter((difference) => !isAttributed(difference))];
}

/**
 * Merchant, mode, kind and payment reference. The keys of ledger, statement and notifications begin with the payment
 * reference.
 */
function buildGroupKey({ merchantId, mode, kind, key }: BookDifference): string {
  return [merchantId, mode, kind, key.split(/[ /#]/)[0]].join(' ');
}

function invertDifference({ kind, key, expected, found, ...difference }: BookDifference): BookDifference {
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

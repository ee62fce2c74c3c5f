import type { BookName } from './books.js';
import type { BookDifference } from './compare-books.js';

/** Who keeps a book: two books of one service may both be behind, or both be restored from one backup. */
const KEEPER: Readonly<Record<BookName, string>> = {
  ledger: 'ledger',
  acquirer: 'acquirer',
  notifications: 'webhook-dispatcher',
  webhooks: 'webhook-dispatcher',
  stream: 'merchant-retrieval',
  retrieval: 'merchant-retrieval',
  history: 'payment-history',
  sessions: 'hosted-gateway',
};
/** They are not told by events, so they are never behind. */
const WITHOUT_EVENTS: readonly string[] = ['ledger', 'acquirer'];

/**
 * Each book is compared with the payments. Where books of two keepers contradict them in the same way about one payment, the
 * payments are what was changed: then one difference names them, from their point of view. A row that books lack may be on its
 * way to all of them, unless one of those lacks it that are not told by events.
 */
export function attributeToPayments(differences: readonly BookDifference[]): BookDifference[] {
  const keepers = new Map<string, Set<string>>();
  for (const difference of differences) {
    const name = nameOf(difference);
    keepers.set(name, (keepers.get(name) ?? new Set()).add(KEEPER[difference.book as BookName]));
  }
  const isBlamed = (difference: BookDifference): boolean => {
    const contradicting = keepers.get(nameOf(difference)) ?? new Set();
    if (contradicting.size < 2) return false;
    return difference.kind !== 'missing' || WITHOUT_EVENTS.some((keeper) => contradicting.has(keeper));
  };
  const blamed = new Map<string, BookDifference>();
  for (const difference of differences.filter(isBlamed)) {
    const name = nameOf(difference);
    if (!blamed.has(name)) blamed.set(name, asOfPayments(difference));
  }
  return [...blamed.values(), ...differences.filter((difference) => !isBlamed(difference))];
}

/** Keys of the ledger, the statement and of notices go on after the payment. */
function nameOf({ merchantId, mode, kind, key }: BookDifference): string {
  return [merchantId, mode, kind, key.split(/[ /#]/)[0]].join(' ');
}

function asOfPayments({ kind, key, expected, found, ...difference }: BookDifference): BookDifference {
  const seen = { missing: 'unexpected', unexpected: 'missing', differs: 'differs' } as const;
  return {
    ...difference,
    key: key.split(/[ /#]/)[0]!,
    book: 'payments',
    kind: seen[kind],
    expected: found,
    found: expected,
  };
}

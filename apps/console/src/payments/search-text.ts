import { parsePaymentReference } from '@svc/kernel';
import { isUuid } from '@svc/kernel';

/** A meaning of a text of the search box. Each meaning has an index. */
export type SearchTerm =
  | { readonly kind: 'reference' | 'payable' | 'code' | 'card' | 'order' | 'customer'; readonly value: string }
  | { readonly kind: 'amount'; readonly value: number };

/** Longest text that can be searched, as long as the longest order number. */
export const MAX_SEARCH_LENGTH = 100;

const CARD = /^(?:\*{0,4}\s?)(?<digits>\d{4})$/;
const CODE = /^\d{20}$/;
const AMOUNT = /^R?\s?(?<rand>\d{1,3}(?:[ ,]\d{3})+|\d{1,9})(?:[.,](?<cents>\d{2}))?$/i;

/**
 * The meanings of a text: a payment reference, the id of a session or an invoice, a code, the last digits of a card, an
 * amount, an order number, a customer's name. Most texts have several meanings, and all of them are searched.
 */
export function interpretSearch(text: string): SearchTerm[] {
  const value = text.trim();
  // PostgreSQL stores no U+0000, and refuses it in a comparison.
  if (value === '' || value.includes('\0')) return [];
  const terms: SearchTerm[] = [
    { kind: 'order', value },
    { kind: 'customer', value },
  ];
  const reference = parsePaymentReference(value);
  if (reference !== undefined) terms.push({ kind: 'reference', value: reference });
  if (isUuid(value)) terms.push({ kind: 'payable', value: value.toLowerCase() });
  if (CODE.test(value)) terms.push({ kind: 'code', value });
  const digits = CARD.exec(value)?.groups?.['digits'];
  if (digits !== undefined) terms.push({ kind: 'card', value: digits });
  const cents = parseAmount(value);
  if (cents !== undefined) terms.push({ kind: 'amount', value: cents });
  return terms;
}

/** Reads "R 1 234.50", "1234,50" or "250" as cents, without floating-point arithmetic. */
export function parseAmount(text: string): number | undefined {
  const groups = AMOUNT.exec(text.trim())?.groups;
  if (groups === undefined) return undefined;
  return Number(groups['rand']!.replaceAll(/[ ,]/g, '')) * 100 + Number(groups['cents'] ?? 0);
}

import { parsePaymentReference } from '@svc/kernel';
import { isUuid } from '@svc/kernel';
import { parseAmount } from '../languages/format.js';

/** A meaning of a text of the search box. Each meaning has an index. */
export type SearchTerm =
  | { readonly kind: 'reference' | 'payable' | 'code' | 'card' | 'order' | 'customer'; readonly value: string }
  | { readonly kind: 'amount'; readonly value: number };

/** Longest text that can be searched, as long as the longest order number. */
export const MAX_SEARCH_LENGTH = 100;

/** Shortest beginning of an order number that is searched. */
const MIN_BEGINNING_LENGTH = 3;

const CARD = /^(?:\*{0,4}\s?)(?<digits>\d{4})$/;
const CODE = /^\d{20}$/;

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

/** The text as the beginning of an order number; undefined if it is too short to say anything. */
export function interpretBeginning(text: string): string | undefined {
  const value = text.trim();
  return value.length < MIN_BEGINNING_LENGTH || value.includes('\0') ? undefined : value;
}

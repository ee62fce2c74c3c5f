import { MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { DomainError, type FieldProblem, parsePaymentReference } from '@svc/kernel';

/** Maximum number of payments in a response (M9). */
export const SEARCH_PAGE_SIZE = 100;
const DAY_MS = 86_400_000;
/** Accepts years long before the window, because a caller may write "since 1970". */
const DAY_OR_TIME = /^(19|2\d)\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,3})?Z)?$/;
/** The text of a cursor has less than 50 characters. */
const MAX_CURSOR_LENGTH = 100;

/** The last payment of a page. The next page begins after it, in the order of the list. */
export interface SearchCursor {
  readonly paymentUTCDate: Date;
  readonly paymentReference: string;
}

/** A search for the payments of an order. `from` is inclusive, `until` is exclusive; without them, the whole window of M9. */
export interface PaymentSearch {
  readonly orderId: string;
  readonly from: Date | undefined;
  readonly until: Date | undefined;
  readonly after: SearchCursor | undefined;
}

/** The query of a search as received: each value is a text, a list if the caller sent it twice, or undefined. */
export type SearchQuery = Readonly<Record<'orderId' | 'from' | 'to' | 'after', unknown>>;

/** @throws DomainError `request.invalid` with every invalid parameter (C5) */
export function parseSearch(query: SearchQuery): PaymentSearch {
  const { orderId } = query;
  const [from, until] = [parseTime(query.from, 0), parseTime(query.to, DAY_MS)];
  const after = query.after === undefined ? undefined : (decodeCursor(query.after) ?? 'invalid');
  const problems: FieldProblem[] = [];
  const isOrderId = typeof orderId === 'string' && orderId.length >= 1 && orderId.length <= MAX_IDENTIFIER_LENGTH;
  if (!isOrderId)
    problems.push({
      field: 'orderId',
      message: `orderId must be given once, with 1 to ${MAX_IDENTIFIER_LENGTH} characters: your order number, as in merchantOrderId`,
    });
  const expected = 'a date in UTC, as in 2026-11-20 or 2026-11-20T18:03:36Z';
  if (from === 'invalid') problems.push({ field: 'from', message: `from must be ${expected}` });
  if (until === 'invalid') problems.push({ field: 'to', message: `to must be ${expected}` });
  if (from instanceof Date && until instanceof Date && until < from)
    problems.push({ field: 'to', message: 'to must not be before from' });
  if (after === 'invalid')
    problems.push({ field: 'after', message: 'after must be the value from the link to the next page' });
  if (!isOrderId || from === 'invalid' || until === 'invalid' || after === 'invalid' || problems.length > 0)
    throw new DomainError('request.invalid', { fields: problems });
  return { orderId, from, until, after };
}

/** The value of the header `Link` that leads to the next page (RFC 8288), relative to the URL of the search. */
export function linkToNextPage({ orderId, from, to }: SearchQuery, last: SearchCursor): string {
  const parameters = Object.entries({ orderId, from, to, after: encodeCursor(last) }).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return `<payment-search?${new URLSearchParams(parameters).toString()}>; rel="next"`;
}

/** A time, or for a day its midnight plus `dayOffsetMs`. Undefined if the parameter is absent. */
function parseTime(value: unknown, dayOffsetMs: number): Date | undefined | 'invalid' {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !DAY_OR_TIME.test(value)) return 'invalid';
  // JavaScript parses a day without a time as midnight in UTC, and 31 February as 3 March.
  const date = new Date(value);
  const exists = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value.slice(0, 19).replace(/Z$/, ''));
  if (!exists) return 'invalid';
  return value.includes('T') ? date : new Date(date.getTime() + dayOffsetMs);
}

/** Callers must store a cursor without parsing it, because the format may change. */
function encodeCursor({ paymentUTCDate, paymentReference }: SearchCursor): string {
  return Buffer.from(`1.${paymentUTCDate.getTime()}.${paymentReference}`, 'latin1').toString('base64url');
}

function decodeCursor(text: unknown): SearchCursor | undefined {
  if (typeof text !== 'string' || text.length > MAX_CURSOR_LENGTH) return undefined;
  const [, time, reference] = /^1\.(\d{1,14})\.(\w{18})$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  const paymentReference = parsePaymentReference(reference ?? '');
  if (time === undefined || paymentReference === undefined) return undefined;
  const cursor = { paymentUTCDate: new Date(Number(time)), paymentReference };
  // Several base64url texts decode to the same bytes: accept only the canonical text.
  return encodeCursor(cursor) === text ? cursor : undefined;
}

import type { Mode } from '@svc/contracts';
import { invalidField, isUuid, parseOwnCode, parsePaymentReference } from '@svc/kernel';

/** A search, as an operator types it. */
export interface TimelineQuery {
  readonly find: string;
  /** UTC day, as `2026-03-01`. */
  readonly day?: string | undefined;
  readonly mode?: Mode | undefined;
}

/** A meaning of the text. Each meaning has an index. */
export interface TimelineTerm {
  readonly kind: 'reference' | 'payable' | 'code' | 'card' | 'order';
  readonly value: string;
}

/** As long as the longest order number, or a scanned code with its address. */
const MAX_FIND_LENGTH = 200;
const MAX_ORDER_LENGTH = 100;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
const CARD = /^(?:\*{4} ?)?(?<digits>\d{4})$/;

/** Throws `request.invalid` with the name of the parameter. */
export function parseTimelineQuery({ find, day, mode }: Readonly<Record<keyof TimelineQuery, unknown>>): TimelineQuery {
  const text = typeof find === 'string' ? find.trim() : '';
  // PostgreSQL stores no U+0000, and refuses it in a comparison.
  if (text === '' || text.length > MAX_FIND_LENGTH || text.includes('\0'))
    throw invalidField('find', `find must have 1 to ${MAX_FIND_LENGTH} characters`);
  if (day !== undefined && !isDay(day)) throw invalidField('day', 'day must be a day such as 2026-03-01');
  if (mode !== undefined && mode !== 'test' && mode !== 'live') throw invalidField('mode', 'mode must be test or live');
  return { find: text, day, mode };
}

function isDay(day: unknown): day is string {
  if (typeof day !== 'string' || !DAY.test(day)) return false;
  const time = new Date(day);
  // 2026-02-30 is parsed as a day of March.
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}

/**
 * The meanings of a text: a payment reference, the id of a session or an invoice, a code, an order number, and together
 * with a day the last digits of a card. Most texts have several meanings, and all of them are searched. Without a day the
 * payments of a card ending would be too many.
 */
export function interpretTimelineQuery({ find, day }: TimelineQuery, codesUrl: string): TimelineTerm[] {
  const terms: TimelineTerm[] = [];
  const reference = parsePaymentReference(find);
  if (reference !== undefined) terms.push({ kind: 'reference', value: reference });
  if (isUuid(find)) terms.push({ kind: 'payable', value: find.toLowerCase() });
  const code = parseOwnCode(find, codesUrl) ?? parseOwnCode(find.replaceAll(' ', ''), codesUrl);
  if (code !== undefined) terms.push({ kind: 'code', value: code });
  const digits = CARD.exec(find)?.groups?.['digits'];
  if (digits !== undefined && day !== undefined) terms.push({ kind: 'card', value: digits });
  if (find.length <= MAX_ORDER_LENGTH) terms.push({ kind: 'order', value: find });
  return terms;
}

/** The first time of the day, and the first time after it; all times without a day. */
export function rangeOf({ day }: Pick<TimelineQuery, 'day'>): { readonly from: Date; readonly until: Date } {
  if (day === undefined) return { from: new Date(0), until: new Date('9999-12-31') };
  const from = new Date(day);
  return { from, until: new Date(from.getTime() + DAY_MS) };
}

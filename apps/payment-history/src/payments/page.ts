import { MAX_HISTORY_PAGE_SIZE, type PaymentHistory } from '@svc/contracts';
import { DomainError, type FieldProblem } from '@svc/kernel';

/** What of the history was asked for. */
export interface PageRequest {
  /** From 1. */
  readonly page: number;
  /** 1 to 50. */
  readonly pageSize: number;
  /** Only payments of this customer. */
  readonly customerReference: string | undefined;
}

/** Largest page number and page size that is understood (P5). */
const NUMBER_MAX = 1_000_000_000;

/** Reads the query of `GET /v1/payments`. Throws `request.invalid` that names every offending parameter. */
export function readPageRequest(query: Readonly<Record<string, unknown>>): PageRequest {
  const fields: FieldProblem[] = [];
  const number = (field: string, whenAbsent: number): number => {
    const value = query[field];
    if (value === undefined) return whenAbsent;
    const read = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : 0;
    if (read < 1 || read > NUMBER_MAX)
      fields.push({ field, message: `${field} must be a whole number from 1 to ${NUMBER_MAX}` });
    return read;
  };
  const page = number('page', 1);
  const pageSize = Math.min(number('pageSize', MAX_HISTORY_PAGE_SIZE), MAX_HISTORY_PAGE_SIZE);
  const { customerReference } = query;
  // Twice in one address: which of the two was meant cannot be known.
  if (customerReference !== undefined && typeof customerReference !== 'string')
    fields.push({ field: 'customerReference', message: 'customerReference must be given once' });
  if (fields.length > 0) throw new DomainError('request.invalid', { fields });
  return { page, pageSize, customerReference: customerReference as string | undefined };
}

/**
 * Links to the pages beside this one, relative to the main API. They keep every parameter of the address that was asked
 * for, also those that nobody here knows (P5).
 */
export function pageLinks(
  address: string,
  page: number,
  hasNext: boolean,
): Pick<PaymentHistory, 'previousPage' | 'nextPage'> {
  return {
    ...(page > 1 ? { previousPage: linkTo(address, page - 1) } : {}),
    ...(hasNext ? { nextPage: linkTo(address, page + 1) } : {}),
  };
}

function linkTo(address: string, page: number): string {
  const start = address.indexOf('?');
  const query = new URLSearchParams(start < 0 ? '' : address.slice(start + 1));
  query.set('page', String(page));
  return `/v1/payments?${query.toString()}`;
}

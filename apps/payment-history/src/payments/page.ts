import { MAX_HISTORY_PAGE_SIZE, type PaymentHistory } from '@svc/contracts';
import { DomainError, type FieldProblem } from '@svc/kernel';

export interface PageRequest {
  /** The number of the page, from 1. */
  readonly page: number;
  /** 1 to 50. */
  readonly pageSize: number;
  /** Only payments of this customer. */
  readonly customerReference: string | undefined;
}

/** Largest valid value of `page` and `pageSize` (P5). A larger `pageSize` than 50 is valid and counts as 50. */
const MAX_PAGE_PARAMETER = 1_000_000_000;

/** Reads the query of `GET /v1/payments`. Throws `request.invalid` with all invalid parameters. */
export function readPageRequest(query: Readonly<Record<string, unknown>>): PageRequest {
  const fields: FieldProblem[] = [];
  const readNumber = (field: string, defaultValue: number): number => {
    const value = query[field];
    if (value === undefined) return defaultValue;
    const parsed = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : 0;
    if (parsed < 1 || parsed > MAX_PAGE_PARAMETER)
      fields.push({ field, message: `${field} must be a whole number from 1 to ${MAX_PAGE_PARAMETER}` });
    return parsed;
  };
  const page = readNumber('page', 1);
  const pageSize = Math.min(readNumber('pageSize', MAX_HISTORY_PAGE_SIZE), MAX_HISTORY_PAGE_SIZE);
  const { customerReference } = query;
  // A parameter that occurs twice is an array.
  if (customerReference !== undefined && typeof customerReference !== 'string')
    fields.push({ field: 'customerReference', message: 'customerReference must be given once' });
  if (fields.length > 0) throw new DomainError('request.invalid', { fields });
  return { page, pageSize, customerReference: customerReference as string | undefined };
}

/**
 * Returns the links to the previous and the next page, relative to the main API. The links keep all query parameters,
 * including unknown parameters (P5).
 */
export function pageLinks(
  url: string,
  page: number,
  hasNext: boolean,
): Pick<PaymentHistory, 'previousPage' | 'nextPage'> {
  return {
    ...(page > 1 ? { previousPage: buildPageLink(url, page - 1) } : {}),
    ...(hasNext ? { nextPage: buildPageLink(url, page + 1) } : {}),
  };
}

function buildPageLink(url: string, page: number): string {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
  query.set('page', String(page));
  return `/v1/payments?${query.toString()}`;
}

import { selectedColumns } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import { SERVING_GENERATION } from '../read-model/read-model.js';
import { type ConsoleRequest, REQUEST_COLUMNS } from '../read-model/request.repository.js';
import type { PaymentScope } from '../viewer/payment-scope.js';
import type { RequestFacts } from './request.js';

export type ListedRequest = ConsoleRequest & RequestFacts;

/** The last request of the page before. */
export interface RequestPosition {
  readonly createdUTCDate: Date;
  readonly invoiceReference: string;
}

/** Each table is a subquery, so that the plan is the same for empty and for full tables. */
const COLUMNS = ` ${selectedColumns(REQUEST_COLUMNS, 'r')},
         (SELECT p.payment_reference FROM payments p
           WHERE p.generation = r.generation AND p.payable_id = r.invoice_reference AND p.state = 'success'
           ORDER BY p.payment_utc_date LIMIT 1) AS "paymentReference",
         (SELECT e.state FROM ended_payables e
           WHERE e.generation = r.generation AND e.payable_id = r.invoice_reference) AS "endedState",
         (SELECT e.ended_utc_date FROM ended_payables e
           WHERE e.generation = r.generation AND e.payable_id = r.invoice_reference) AS "endedUTCDate"`;
/** $1 merchant, $2 mode. */
const OWNED = `r.generation = ${SERVING_GENERATION} AND r.merchant_id = $1 AND r.mode = $2`;
const SELECT = `SELECT ${COLUMNS} FROM payment_requests r WHERE ${OWNED}`;

/** $3 sites or NULL, $4 and $5 the position after which the page begins, $6 the number of rows. */
const list = (site: string): string => `${SELECT} AND ${site}
     AND (r.created_utc_date, r.invoice_reference) < ($4, $5::uuid)
   ORDER BY r.created_utc_date DESC, r.invoice_reference DESC LIMIT $6`;

/** With one site the index of the site is read, otherwise the index of the merchant. */
const ONE_SITE = 'r.site_id = ($3::bigint[])[1]';
const SOME_SITES = '($3::bigint[] IS NULL OR r.site_id = ANY ($3))';
const LIST_OF_SITE = list(ONE_SITE);
const LIST = list(SOME_SITES);
const FIND = `${SELECT} AND ${SOME_SITES} AND r.invoice_reference = $4`;

/** Newest requests that a search reads. Without an index, because people create them one at a time, for at most 30 days. */
const MAX_SEARCHED = 1_000;

/** $3 sites or NULL, $4 the text, $5 the beginning of an order number or NULL, $6 cents or NULL, $7 the number of rows. */
const search = (site: string): string => `
  SELECT ${COLUMNS}
    FROM (SELECT * FROM payment_requests r WHERE ${OWNED} AND ${site}
           ORDER BY r.created_utc_date DESC, r.invoice_reference DESC LIMIT ${MAX_SEARCHED}) r
   WHERE (lower(r.order_reference) = lower($4) OR starts_with(lower(r.order_reference), lower($5)) OR r.code = $4 OR r.amount = $6)
     AND (SELECT p.payment_reference FROM payments p
           WHERE p.generation = r.generation AND p.payable_id = r.invoice_reference AND p.state = 'success' LIMIT 1) IS NULL
   ORDER BY r.created_utc_date DESC, r.invoice_reference DESC LIMIT $7`;
const SEARCH_OF_SITE = search(ONE_SITE);
const SEARCH = search(SOME_SITES);

const END: RequestPosition = {
  createdUTCDate: new Date('9999-12-31T00:00:00Z'),
  invoiceReference: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** Lists payment requests, the newest first. Every page costs the same. */
export async function listRequests(
  dataSource: DataSource,
  { merchantId, mode, sites }: PaymentScope,
  after: RequestPosition | undefined,
  limit: number,
): Promise<ListedRequest[]> {
  const { createdUTCDate, invoiceReference } = after ?? END;
  const ids = sites === 'all' ? null : sites;
  const rows = await dataSource.query<RequestRow[]>(ids?.length === 1 ? LIST_OF_SITE : LIST, [
    merchantId,
    mode,
    ids,
    createdUTCDate,
    invoiceReference,
    limit,
  ]);
  return rows.map(fromRow);
}

/** The meanings of a text of the search box for a payment request. */
export interface RequestSearch {
  /** A whole order number, or the 20 digits of the link. */
  readonly text: string;
  /** The beginning of an order number. */
  readonly orderBeginning: string | undefined;
  readonly amountCents: number | undefined;
}

/** Searches the newest requests that are not paid, the newest first. Paid ones are found as payments. */
export async function searchUnpaidRequests(
  dataSource: DataSource,
  { merchantId, mode, sites }: PaymentScope,
  { text, orderBeginning, amountCents }: RequestSearch,
  limit: number,
): Promise<ListedRequest[]> {
  const ids = sites === 'all' ? null : sites;
  const rows = await dataSource.query<RequestRow[]>(ids?.length === 1 ? SEARCH_OF_SITE : SEARCH, [
    merchantId,
    mode,
    ids,
    text,
    orderBeginning ?? null,
    amountCents ?? null,
    limit,
  ]);
  return rows.map(fromRow);
}

/** A request of another merchant, mode or site is not found. */
export async function findRequest(
  dataSource: DataSource,
  { merchantId, mode, sites }: PaymentScope,
  invoiceReference: string,
): Promise<ListedRequest | undefined> {
  const rows = await dataSource.query<RequestRow[]>(FIND, [
    merchantId,
    mode,
    sites === 'all' ? null : sites,
    invoiceReference,
  ]);
  return rows.map(fromRow)[0];
}

type RequestRow = Omit<ListedRequest, 'createdUTCDate' | 'expiresUTCDate' | 'endedUTCDate'> & {
  readonly createdUTCDate: Date;
  readonly expiresUTCDate: Date;
  readonly endedUTCDate: Date | null;
};

function fromRow(row: RequestRow): ListedRequest {
  return {
    ...row,
    createdUTCDate: row.createdUTCDate.toISOString(),
    expiresUTCDate: row.expiresUTCDate.toISOString(),
    endedUTCDate: row.endedUTCDate?.toISOString() ?? null,
  };
}

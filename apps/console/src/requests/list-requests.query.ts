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

/** $1 merchant, $2 mode. Each table is a subquery, so that the plan is the same for empty and for full tables. */
const SELECT = `
  SELECT ${selectedColumns(REQUEST_COLUMNS, 'r')},
         (SELECT p.payment_reference FROM payments p
           WHERE p.generation = r.generation AND p.payable_id = r.invoice_reference AND p.state = 'success'
           ORDER BY p.payment_utc_date LIMIT 1) AS "paymentReference",
         (SELECT e.state FROM ended_payables e
           WHERE e.generation = r.generation AND e.payable_id = r.invoice_reference) AS "endedState",
         (SELECT e.ended_utc_date FROM ended_payables e
           WHERE e.generation = r.generation AND e.payable_id = r.invoice_reference) AS "endedUTCDate"
    FROM payment_requests r
   WHERE r.generation = ${SERVING_GENERATION} AND r.merchant_id = $1 AND r.mode = $2`;

/** $3 sites or NULL, $4 and $5 the position after which the page begins, $6 the number of rows. */
const list = (site: string): string => `${SELECT} AND ${site}
     AND (r.created_utc_date, r.invoice_reference) < ($4, $5::uuid)
   ORDER BY r.created_utc_date DESC, r.invoice_reference DESC LIMIT $6`;

/** With one site the index of the site is read, otherwise the index of the merchant. */
const LIST_OF_SITE = list('r.site_id = ($3::bigint[])[1]');
const LIST = list('($3::bigint[] IS NULL OR r.site_id = ANY ($3))');
const FIND = `${SELECT} AND ($3::bigint[] IS NULL OR r.site_id = ANY ($3)) AND r.invoice_reference = $4`;

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

import type { PaymentMethodType } from '@svc/contracts';
import { selectedColumns } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import type { ConsolePayment } from '../read-model/console-payment.js';
import { PAYMENT_COLUMNS } from '../read-model/payment.repository.js';
import { SERVING_GENERATION } from '../read-model/read-model.js';
import type { PaymentScope } from '../viewer/payment-scope.js';
import type { SearchTerm } from './search-text.js';

export interface PaymentFilters {
  readonly siteId?: number | undefined;
  readonly state?: ConsolePayment['state'] | undefined;
  readonly method?: PaymentMethodType | undefined;
  /** Inclusive. */
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
}

/** The place in the list after which a page begins: the last payment of the page before. */
export interface PaymentPosition {
  readonly paymentUTCDate: Date;
  readonly paymentReference: string;
}

export interface ListPayments {
  readonly scope: PaymentScope;
  readonly filters: PaymentFilters;
  /** Absent: all payments. */
  readonly search?: readonly SearchTerm[] | undefined;
  /** If the search finds nothing: the payments whose order number begins with this text. */
  readonly orderBeginning?: string | undefined;
  readonly after?: PaymentPosition | undefined;
  readonly limit: number;
}

/** A payment of a list, with the sum of its successful refunds in cents. */
export interface ListedPayment extends ConsolePayment {
  readonly refundedAmount: number;
}

/** Columns of the search, as their indexes contain them. */
const SEARCHED: Readonly<Record<SearchTerm['kind'], string>> = {
  reference: 'payment_reference = $8',
  payable: 'payable_id = $8::uuid',
  code: `code = $8 AND code <> ''`,
  card: `last_digits = $8 AND last_digits <> ''`,
  amount: 'amount = $8::bigint',
  order: `lower(order_reference) = lower($8) AND order_reference <> ''`,
  customer: `lower(customer_name) = lower($8) AND customer_name <> ''`,
};

/**
 * $1 merchant, $2 mode, $3 sites, $4 from, $5 until, $6 and $7 the position after which the page begins. The rows come in
 * the order of an index, so every page costs the same.
 */
const select = (conditions: readonly string[], limit: number): string => `
  SELECT ${selectedColumns(PAYMENT_COLUMNS, 'p')}
    FROM payments p
   WHERE ${['p.generation = ' + SERVING_GENERATION, 'p.merchant_id = $1 AND p.mode = $2', ...conditions].join(' AND ')}
     AND p.payment_utc_date >= $4 AND p.payment_utc_date < $5
     AND (p.payment_utc_date, p.payment_reference) < ($6::timestamptz, $7)
   ORDER BY p.payment_utc_date DESC, p.payment_reference DESC LIMIT ${limit}`;

/** $3 must have a type also in a statement for all sites. */
const ALL_SITES = '$3::bigint[] IS NULL';
const ONE_SITE = 'p.site_id = ($3::bigint[])[1]';

/**
 * Of several sites, the newest payments of each are read with the index of the site, because the newest payments of the
 * merchant may all be of other sites.
 */
function selectOfSites(conditions: readonly string[], sites: number | undefined, limit: number): string {
  if (sites === undefined) return select([ALL_SITES, ...conditions], limit);
  if (sites === 1) return select([ONE_SITE, ...conditions], limit);
  return `
  SELECT found.* FROM unnest($3::bigint[]) AS s (site_id),
         LATERAL (${select(['p.site_id = s.site_id', ...conditions], limit)}) AS found
   ORDER BY found."paymentUTCDate" DESC, found."paymentReference" DESC LIMIT ${limit}`;
}

/** As text, so that the planner can use the indexes of few states and methods. */
function filterConditions({ state, method }: PaymentFilters): string[] {
  return [
    ...(state === undefined ? [] : [`p.state = '${state}'`]),
    ...(method === undefined ? [] : [`p.method = '${method}'`]),
  ];
}

/** Payments that a search for the beginning of an order number reads. With more matches, people type more of the number. */
const MAX_BEGINNINGS = 1_000;

/**
 * As {@link select}, for orders that begin with $8. Their order in the index is that of the order number, so a bounded number
 * is read and then sorted. No text of the database is greater than a text of the highest character.
 */
const selectBeginnings = (conditions: readonly string[], limit: number): string => `
  SELECT ${selectedColumns(PAYMENT_COLUMNS, 'p')}
    FROM (SELECT * FROM payments o
           WHERE o.generation = ${SERVING_GENERATION} AND o.merchant_id = $1 AND o.mode = $2 AND o.order_reference <> ''
             AND lower(o.order_reference) ~>=~ lower($8) AND lower(o.order_reference) ~<~ (lower($8) || chr(1114111))
           ORDER BY lower(o.order_reference) USING ~<~ LIMIT ${MAX_BEGINNINGS}) p
   WHERE ${['($3::bigint[] IS NULL OR p.site_id = ANY ($3))', ...conditions].join(' AND ')}
     AND p.payment_utc_date >= $4 AND p.payment_utc_date < $5
     AND (p.payment_utc_date, p.payment_reference) < ($6::timestamptz, $7)
   ORDER BY p.payment_utc_date DESC, p.payment_reference DESC LIMIT ${limit}`;

const BEGINNING = new Date(0);
const END = new Date('9999-12-31T00:00:00Z');

/** Lists payments, the newest first. */
export async function listPayments(
  dataSource: DataSource,
  { scope, filters, search, orderBeginning, after, limit }: ListPayments,
): Promise<ListedPayment[]> {
  const sites = selectSites(scope, filters.siteId);
  if (sites?.length === 0 || search?.length === 0) return [];
  const conditions = filterConditions(filters);
  const parameters = [
    scope.merchantId,
    scope.mode,
    sites ?? null,
    filters.from ?? BEGINNING,
    endOf(filters, after),
    after?.paymentUTCDate ?? END,
    after?.paymentReference ?? '',
  ];
  const list = (statement: string, ...searched: unknown[]): Promise<PaymentRow[]> =>
    dataSource.query<PaymentRow[]>(statement, [...parameters, ...searched]);
  const find = async ({ kind, value }: SearchTerm): Promise<PaymentRow[]> =>
    list(selectOfSites([SEARCHED[kind], ...conditions], sites?.length, limit), value);
  const found =
    search === undefined
      ? await list(selectOfSites(conditions, sites?.length, limit))
      : (await Promise.all(search.map(find))).flat();
  // The beginning of an order number is not mixed with what a whole text means, also on a page after the last match.
  const isOfBeginnings =
    found.length === 0 &&
    orderBeginning !== undefined &&
    (after === undefined || (await listPayments(dataSource, { scope, filters, search, limit: 1 })).length === 0);
  if (isOfBeginnings) found.push(...(await list(selectBeginnings(conditions, limit), orderBeginning)));
  const payments = [...new Map(found.map((row) => [row.paymentReference, row])).values()]
    .sort(byNewest)
    .slice(0, limit)
    .map(fromRow);
  return addRefunds(dataSource, payments);
}

/**
 * The end of the times, exclusive. With the position alone PostgreSQL would begin at the end of the times, and would read
 * and skip the index entries of all earlier pages.
 */
function endOf({ until = END }: PaymentFilters, after: PaymentPosition | undefined): Date {
  if (after === undefined) return until;
  return new Date(Math.min(until.getTime(), after.paymentUTCDate.getTime() + 1));
}

async function addRefunds(dataSource: DataSource, payments: ConsolePayment[]): Promise<ListedPayment[]> {
  const succeeded = payments.filter(({ state }) => state === 'success');
  const sums =
    succeeded.length === 0
      ? []
      : await dataSource.query<{ paymentReference: string; amount: number }[]>(SUM_REFUNDS, [
          succeeded.map(({ paymentReference }) => paymentReference),
        ]);
  const amounts = new Map(sums.map(({ paymentReference, amount }) => [paymentReference, amount]));
  return payments.map((payment) => ({ ...payment, refundedAmount: amounts.get(payment.paymentReference) ?? 0 }));
}

const SUM_REFUNDS = `
  SELECT payment_reference AS "paymentReference", sum(amount)::bigint AS amount FROM refunds
   WHERE generation = ${SERVING_GENERATION} AND payment_reference = ANY ($1) AND status = 'succeeded'
   GROUP BY payment_reference`;

/** The sites of the statement; undefined for all sites of the merchant. */
function selectSites({ sites }: PaymentScope, siteId: number | undefined): readonly number[] | undefined {
  if (siteId === undefined) return sites === 'all' ? undefined : sites;
  return sites === 'all' || sites.includes(siteId) ? [siteId] : [];
}

/** A row of {@link PAYMENT_COLUMNS}. */
export type PaymentRow = Omit<ConsolePayment, 'paymentUTCDate' | 'modifiedUTCDate'> & {
  readonly paymentUTCDate: Date;
  readonly modifiedUTCDate: Date;
};

export function fromRow(row: PaymentRow): ConsolePayment {
  return {
    ...row,
    paymentUTCDate: row.paymentUTCDate.toISOString(),
    modifiedUTCDate: row.modifiedUTCDate.toISOString(),
  };
}

function byNewest(a: PaymentRow, b: PaymentRow): number {
  return b.paymentUTCDate.getTime() - a.paymentUTCDate.getTime() || (a.paymentReference < b.paymentReference ? 1 : -1);
}

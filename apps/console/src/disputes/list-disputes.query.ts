import type { DisputeStage } from '@svc/contracts';
import { isoTime } from '@svc/messaging';
import type { DataSource } from 'typeorm';
import { SERVING_GENERATION } from '../read-model/read-model.js';
import type { PaymentScope } from '../viewer/payment-scope.js';

/** A dispute of a list. Amount in cents, times as ISO 8601 UTC. */
export interface ListedDispute {
  readonly disputeReference: string;
  readonly paymentReference: string;
  /** The order number of the payment, or the external reference of its invoice. Empty if there is none. */
  readonly orderReference: string;
  readonly siteId: number;
  readonly stage: DisputeStage;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string;
  readonly respondByUTCDate: string | null;
  readonly createdUTCDate: string;
}

/** The place in a list after which a page begins: the last dispute of the page before. */
export interface DisputePosition {
  /** The deadline of an open dispute, undefined if it has none; the creation of a closed one. */
  readonly time: Date | undefined;
  readonly disputeReference: string;
}

export interface ListDisputes {
  readonly scope: PaymentScope;
  readonly state: 'open' | 'closed';
  readonly siteId: number | undefined;
  readonly after: DisputePosition | undefined;
  readonly limit: number;
}

/** $1 merchant, $2 mode, $3 sites or NULL. */
const OWN = `d.generation = ${SERVING_GENERATION} AND d.merchant_id = $1 AND d.mode = $2 AND ($3::bigint[] IS NULL OR d.site_id = ANY ($3))`;
/** As the index contains it: disputes without a deadline come last. */
const DEADLINE = `coalesce(d.respond_by, 'infinity'::timestamptz)`;
const IS_OPEN = `d.stage NOT IN ('won', 'lost')`;

/** $4 and $5 the position after which the page begins, $6 the limit. Each order is that of an index. */
const select = (condition: string, order: string): string => `
  SELECT d.dispute_reference AS "disputeReference", d.payment_reference AS "paymentReference", d.site_id AS "siteId", d.stage, d.amount,
         d.currency, d.reason, ${isoTime('d.respond_by')} AS "respondByUTCDate", ${isoTime('d.created_utc_date')} AS "createdUTCDate",
         coalesce(p.order_reference, '') AS "orderReference"
    FROM disputes d LEFT JOIN payments p ON p.generation = d.generation AND p.payment_reference = d.payment_reference
   WHERE ${OWN} AND ${condition} ORDER BY ${order} LIMIT $6`;

const LISTS = {
  open: {
    statement: select(
      `${IS_OPEN} AND (${DEADLINE}, d.dispute_reference) > ($4::timestamptz, $5::uuid)`,
      `${DEADLINE}, d.dispute_reference`,
    ),
    beginning: ['-infinity', '00000000-0000-0000-0000-000000000000'],
  },
  closed: {
    statement: select(
      `NOT (${IS_OPEN}) AND (d.created_utc_date, d.dispute_reference) < ($4::timestamptz, $5::uuid)`,
      `d.created_utc_date DESC, d.dispute_reference DESC`,
    ),
    beginning: ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  },
} as const;

/** Lists open disputes with the nearest deadline first, or closed ones with the newest first. */
export function listDisputes(
  dataSource: DataSource,
  { scope, state, siteId, after, limit }: ListDisputes,
): Promise<ListedDispute[]> {
  const { statement, beginning } = LISTS[state];
  const position = after ? [after.time ?? 'infinity', after.disputeReference] : beginning;
  return dataSource.query(statement, [...ownerParameters(scope, siteId), ...position, limit]);
}

/** The position after this dispute in the list of its state. */
export function positionAfter(
  state: ListDisputes['state'],
  { disputeReference, respondByUTCDate, createdUTCDate }: ListedDispute,
): DisputePosition {
  const time = state === 'open' ? respondByUTCDate : createdUTCDate;
  return { disputeReference, time: time === null ? undefined : new Date(time) };
}

export interface DisputesToAnswer {
  /** At most {@link MAX_COUNT}. */
  readonly count: number;
  /** The nearest deadline, ISO 8601 UTC. */
  readonly firstUTCDate: string;
}

export const MAX_COUNT = 1_000;

/** $4 now. */
const TO_ANSWER = `
  SELECT count(*)::int AS count, ${isoTime('min(respond_by)')} AS "firstUTCDate"
    FROM (SELECT d.respond_by FROM disputes d
           WHERE ${OWN} AND ${IS_OPEN} AND ${DEADLINE} > $4 AND d.respond_by IS NOT NULL ORDER BY ${DEADLINE} LIMIT ${MAX_COUNT}) AS due
  HAVING count(*) > 0`;

/** The open disputes whose deadline has not passed. Undefined if there are none. */
export async function findDisputesToAnswer(
  dataSource: DataSource,
  scope: PaymentScope,
  now: Date,
): Promise<DisputesToAnswer | undefined> {
  const [found] = await dataSource.query<DisputesToAnswer[]>(TO_ANSWER, [...ownerParameters(scope, undefined), now]);
  return found;
}

function ownerParameters({ merchantId, mode, sites }: PaymentScope, siteId: number | undefined): unknown[] {
  if (siteId === undefined) return [merchantId, mode, sites === 'all' ? null : sites];
  return [merchantId, mode, sites === 'all' || sites.includes(siteId) ? [siteId] : []];
}

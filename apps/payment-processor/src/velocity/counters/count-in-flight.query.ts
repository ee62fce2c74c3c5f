import { MAX_IN_FLIGHT, MAX_IN_FLIGHT_MS } from '../velocity-limits.js';

/**
 * The parts of the statements that accept payments which count them as in flight (P11). The counters are locked before all
 * other rows, in the order of their keys (ADR 84).
 */

/** The members of a `VelocityCheck`. */
const CHECK_COLUMNS = `key text COLLATE "C", "otherKey" text COLLATE "C", condition text, "limit" int, since timestamptz,
  "longLimit" int, "longSince" timestamptz, credit int, "busyFrom" int, now timestamptz, "oldestInFlight" uuid`;

/**
 * SQL of a subquery for `remainingAttempts` of velocity-limits.ts; a test compares both. Its columns are `remaining`,
 * `in_flight`, `capacity`: the limit of the short window, which is not below the approvals, and `unused`: what remains of it.
 *
 * @param v alias of the counter; all its columns are NULL if there is none
 * @param c alias of a check, as {@link joinChecks} returns it
 */
function ruleOf(v: string, c: string): string {
  return `SELECT CASE WHEN greatest(${v}.closed_until, ${c}.other_closed_until) > ${c}.now THEN 0
                ELSE least(used.capacity - used.declined, ${c}."longLimit" - used.long_declined, ${MAX_IN_FLIGHT}) - flight.in_flight
                 END::int AS remaining, flight.in_flight, used.capacity, used.capacity - used.declined - flight.in_flight AS unused
           FROM (SELECT greatest(${c}."limit", ${c}.credit + coalesce(sum(d.approved) FILTER (WHERE d.at > ${c}.since), 0)) AS capacity,
                        count(*) FILTER (WHERE d.at > greatest(${c}.since, ${v}.reset_at, ${c}.other_reset_at)) AS declined,
                        count(*) FILTER (WHERE d.at > ${c}."longSince") AS long_declined
                   FROM unnest(${v}.declined_at || ${c}.other_declined_at, ${v}.approvals || ${c}.other_approvals) AS d(at, approved)) used,
                (SELECT count(*) AS in_flight FROM unnest(${v}.in_flight || ${c}.other_in_flight) AS f(id)
                  WHERE f.id >= ${c}."oldestInFlight") flight`;
}

/**
 * SQL of a FROM list and its condition. It adds a row for each check of an item that applies: the check (`c`), its counter (`v`)
 * and `rule` ({@link ruleOf}).
 *
 * @param item alias of the item, with the columns `checks` (a list of `VelocityCheck`, or NULL) and `"attackLevel"`
 */
function joinChecks(item: string): string {
  return `CROSS JOIN LATERAL (
             SELECT given.*, o.declined_at AS other_declined_at, o.approvals AS other_approvals, o.in_flight AS other_in_flight,
                    o.reset_at AS other_reset_at, o.closed_until AS other_closed_until
               FROM jsonb_to_recordset(${item}.checks) AS given(${CHECK_COLUMNS})
               LEFT JOIN LATERAL (SELECT * FROM velocity_counters WHERE counter_key = given."otherKey") o ON true) c
           LEFT JOIN LATERAL (SELECT * FROM velocity_counters WHERE counter_key = c.key) v ON true
          CROSS JOIN LATERAL (${ruleOf('v', 'c')}) rule
          WHERE (c.condition = 'always' OR v.closed_until > c.now
                 OR (c.condition = 'attack' AND ${item}."attackLevel" > 0)
                 OR (c.condition = 'unlessBusy' AND (rule.capacity < c."busyFrom" OR 2 * rule.unused <= rule.capacity)))`;
}

/**
 * SQL for the attack level of a site: 0 unless the site is under attack.
 *
 * @param mode SQL expression, as the others
 */
export function attackLevelOf(mode: string, siteId: string, now: string): string {
  return `coalesce((SELECT a.level FROM attacked_sites a WHERE a.mode = ${mode} AND a.site_id = ${siteId} AND a.ends_at > ${now}), 0)`;
}

/**
 * SQL of items of a WITH clause. They count each payment in the counters of all its checks, unless a limit refuses it. If
 * another statement has used the last attempt of a counter meanwhile, the payment may be counted in its other counters: then
 * the caller frees it (`VelocityGuard.free`). Several payments of a batch may have the same counter: then as many are
 * counted as the limit allows.
 *
 * @param items name of the item of the WITH clause, with the columns `"paymentId"`, `checks`, `"attackLevel"` and
 *   `"isAvailable"`. A payment whose payable is not available is not counted
 */
export function countInFlight(items: string): string {
  // `checked`: a row for each check of each payment, with the counter as it was when the statement began.
  // `refused`: the payments that a limit refuses.
  // `counted`: adds the other payments to their counters. A counter that exists is read again when it is locked.
  // `uncounted`: the payments that are missing in one of their counters.
  return `checked AS MATERIALIZED (
         SELECT item."paymentId", c.*, row_number() OVER (PARTITION BY c.key ORDER BY item."paymentId") > rule.remaining AS is_refused
           FROM ${items} AS item ${joinChecks('item')} AND item."isAvailable"
       ), refused AS (
         SELECT "paymentId" FROM checked WHERE is_refused
       ), counted AS (
         INSERT INTO velocity_counters AS v (counter_key, in_flight, declined_at, approvals, declined_cards, expires_at)
         SELECT key, array_agg("paymentId" ORDER BY "paymentId"), '{}', '{}', '{}', max(now) + interval '${MAX_IN_FLIGHT_MS} milliseconds'
           FROM checked WHERE "paymentId" NOT IN (SELECT "paymentId" FROM refused)
          GROUP BY key ORDER BY key
         ON CONFLICT (counter_key) DO UPDATE
            SET expires_at = greatest(v.expires_at, excluded.expires_at),
                in_flight = (SELECT ARRAY(SELECT f.id FROM unnest(v.in_flight) AS f(id) WHERE f.id >= c."oldestInFlight")
                                    || excluded.in_flight[1:rule.remaining]
                               FROM checked c CROSS JOIN LATERAL (${ruleOf('v', 'c')}) rule
                              WHERE c.key = v.counter_key ORDER BY rule.remaining LIMIT 1)
         RETURNING counter_key, in_flight
       ), uncounted AS MATERIALIZED (
         SELECT "paymentId" FROM checked
          WHERE (key, "paymentId") NOT IN (SELECT k.counter_key, f.id FROM counted k CROSS JOIN LATERAL unnest(k.in_flight) AS f(id))
       )`;
}

/** SQL of a FROM item whose evaluation completes {@link countInFlight}, so that all counters are locked before payables. */
export const COUNTED_FIRST = `(SELECT count(*) AS counters FROM counted) AS counted_first`;

/**
 * SQL condition: the payment is counted in all counters of its checks, or its merchant has no limits.
 *
 * @param item alias of the item of {@link countInFlight}
 */
export function isCounted(item: string): string {
  return `(${item}.checks IS NULL OR (${item}."isAvailable" AND ${item}."paymentId" NOT IN (SELECT "paymentId" FROM uncounted)))`;
}

/**
 * SQL for the first check of an item that refuses it now, if any; see {@link joinChecks} for the item. Payments in flight
 * refuse only their own card. If a range, an address or a partner has no attempt left only because others are in flight, the
 * payer can try again when these have ended.
 */
export const FIND_REFUSED_CHECK = `SELECT c.key FROM item ${joinChecks('item')}
            AND (rule.remaining + CASE WHEN c.condition = 'always' THEN 0 ELSE rule.in_flight END <= 0
                 OR greatest(v.closed_until, c.other_closed_until) > c.now)
          ORDER BY c.key LIMIT 1`;

import { MAX_DECLINES } from '../velocity-limits.js';

/**
 * The parts of the statements that end payments which remove them from their counters, and add declines (P11). The counters
 * are locked before all other rows, in the order of their keys (ADR 84).
 */

/** How a payment ends for its counters. `ended`: without an answer of the issuer. */
export type VelocityOutcome = 'approved' | 'declined' | 'ended';

/** The effect of the end of a payment on its counters, as the column `velocity` of an item of the statement. */
export interface VelocityEnd {
  readonly paymentId: string;
  readonly outcome: VelocityOutcome;
  /** 32 bits of the hash of the card. */
  readonly card: number;
  /** ISO 8601 UTC. A decline whose reason says that the card must not be tried again closes it until this time. */
  readonly closedUntil: string | null;
  /** ISO 8601 UTC. Since this time a card counts only once for its range, address, partner or site. */
  readonly repeatedSince: string;
  readonly counters: readonly {
    readonly key: string;
    /** False for a counter in which the payment may be in flight, but which gets no decline. */
    readonly countsDecline: boolean;
    /** Approvals since the decline before. */
    readonly approvals: number;
    readonly expiresAt: string;
  }[];
}

const END_COLUMNS = `"paymentId" uuid, outcome text, card int, "closedUntil" timestamptz, "repeatedSince" timestamptz, counters jsonb`;
const COUNTER_COLUMNS = `key text COLLATE "C", "countsDecline" boolean, approvals int, "expiresAt" timestamptz`;

/**
 * SQL of the item `held` of a WITH clause: a row for each counter of each ending payment. The counters that exist are locked in
 * the order of their keys. An approval locks only the card and counters in which it is in flight.
 *
 * @param items FROM item `item` with the column `velocity` (a {@link VelocityEnd}, or NULL)
 */
export function lockCounters(items: string): string {
  return `held AS MATERIALIZED (
         SELECT e.*, v.counter_key, v.in_flight, v.declined_at, v.declined_cards, v.closed_until
           FROM (SELECT e."paymentId", e.outcome, e.card, e."closedUntil", e."repeatedSince", k.*, k.key LIKE 'card:%' AS is_card
                   FROM ${items}
                  CROSS JOIN LATERAL jsonb_to_record(item.velocity) AS e(${END_COLUMNS})
                  CROSS JOIN LATERAL jsonb_to_recordset(e.counters) AS k(${COUNTER_COLUMNS})
                  ORDER BY k.key) e
           LEFT JOIN LATERAL (
            SELECT * FROM velocity_counters
             WHERE counter_key = e.key AND (e.outcome = 'declined' OR e.is_card OR e."paymentId" = ANY (in_flight))
               FOR UPDATE) v ON true
       )`;
}

/** SQL of a FROM item whose evaluation completes {@link lockCounters}. */
export const LOCKED_FIRST = `(SELECT count(*) AS counters FROM held) AS locked_first`;

/**
 * SQL of items of a WITH clause that free the payments and add the declines. A counter without declines and payments in
 * flight is deleted, so that an approved payment leaves no row.
 *
 * @param target name of the item of the WITH clause with the payments that have ended (`payment_id`, `ended_at`)
 */
export function endInFlight(target: string): string {
  const newest = (column: string): string =>
    `(v.${column} || excluded.${column})[greatest(1, cardinality(v.${column} || excluded.${column}) - ${MAX_DECLINES - 1}):]`;
  // `ended`: the counters of the payments that have ended. `is_decline`: the card counts as declined in this counter.
  // `change`: a row for each counter, with `adds`: it gets a decline, or is closed. `repeated_approvals`: those that are reported
  // with the decline of a card that counts already, and are added to the newest decline.
  // `emptied`: deletes the counters in which nothing would remain. `counter`: writes the others.
  return `ended AS (
         SELECT h.*, t.ended_at, h.outcome = 'declined' AND h."countsDecline" AND (h.is_card OR (
                  row_number() OVER (PARTITION BY h.key, h.outcome, h.card ORDER BY h."paymentId") = 1 AND NOT EXISTS (
                  SELECT FROM unnest(h.declined_at, h.declined_cards) AS d(at, card) WHERE d.card = h.card AND d.at > h."repeatedSince"))) AS is_decline
           FROM held h JOIN ${target} t ON t.payment_id = h."paymentId"
       ), change AS MATERIALIZED (
         SELECT key, array_agg("paymentId") AS payments, max("expiresAt") AS expires_at,
                coalesce(array_agg(ended_at) FILTER (WHERE is_decline), '{}') AS declined_at,
                coalesce(array_agg(approvals) FILTER (WHERE is_decline), '{}') AS approvals,
                coalesce(array_agg(card) FILTER (WHERE is_decline), '{}') AS declined_cards,
                CASE WHEN bool_or(is_decline) THEN 0 ELSE sum(approvals) END AS repeated_approvals,
                max(ended_at) FILTER (WHERE is_card AND outcome = 'approved') AS reset_at,
                max("closedUntil") FILTER (WHERE is_card) AS closed_until,
                bool_or(is_decline OR (is_card AND "closedUntil" IS NOT NULL)) AS adds,
                bool_or(counter_key IS NOT NULL) AS is_held,
                bool_and(declined_at = '{}' AND held.closed_until IS NULL) AND min(in_flight) <@ array_agg("paymentId") AS is_free
           FROM ended AS held GROUP BY key
       ), emptied AS (
         DELETE FROM velocity_counters v USING change c WHERE v.counter_key = c.key AND c.is_free AND NOT c.adds
       ), counter AS (
         INSERT INTO velocity_counters AS v (counter_key, in_flight, declined_at, approvals, declined_cards, reset_at, closed_until, expires_at)
         SELECT key, '{}', declined_at, approvals, declined_cards, reset_at, closed_until, expires_at
           FROM change WHERE adds OR (is_held AND NOT is_free) ORDER BY key
         ON CONFLICT (counter_key) DO UPDATE
            SET declined_at = ${newest('declined_at')}, declined_cards = ${newest('declined_cards')},
                reset_at = greatest(v.reset_at, excluded.reset_at), closed_until = greatest(v.closed_until, excluded.closed_until),
                (in_flight, approvals, expires_at) = (
                  SELECT ARRAY(SELECT f.id FROM unnest(v.in_flight) AS f(id) WHERE f.id <> ALL (c.payments)),
                         CASE WHEN c.repeated_approvals > 0 AND v.approvals <> '{}'
                              THEN v.approvals[:cardinality(v.approvals) - 1] || (v.approvals[cardinality(v.approvals)] + c.repeated_approvals)::int
                              ELSE ${newest('approvals')} END,
                         CASE WHEN c.adds THEN greatest(v.expires_at, excluded.expires_at) ELSE v.expires_at END
                    FROM change c WHERE c.key = v.counter_key)
       )`;
}

/**
 * SQL for the keys that the attempt of a payment keeps when it ends. A verification continues the payment. After a decline an
 * administrator finds the card by them.
 */
export function keptCounterKeys(keys: string, attemptState: string, paymentState: string): string {
  return `CASE WHEN ${paymentState} = 'verificationRequired' THEN ${keys}
                                    WHEN ${attemptState} = 'declined' THEN ${cardKeysOf(keys)} END`;
}

/** SQL for the keys of the card among the keys of an attempt; NULL if it has none. */
export function cardKeysOf(keys: string): string {
  return `(SELECT array_agg(key) FROM unnest(${keys}) AS k(key) WHERE key LIKE 'card:%')`;
}

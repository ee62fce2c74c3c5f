/**
 * SQL: the movements that this service has booked and an acquirer with settlement reports settles. Columns: `kind` and
 * `movement_id` identify a movement, as in `settlement_lines`; `attempt_id` is its charge; `at` is its time, which never
 * changes; `ended_at` is the time of its outcome, NULL while there is none; `is_undone` is true if its money came back, so
 * that the acquirer settles either both movements or neither.
 *
 * @param filter the condition of each kind, by the SQL of its id and its time. Each is a part of its SELECT, because a
 * condition on the result would read whole tables.
 */
export function ownMovements(filter: (kinds: string, id: string, at: string) => string): string {
  return `
    SELECT 'capture' AS kind, c.attempt_id AS movement_id, c.attempt_id, a.started_at AS at, c.amount, c.ended_at,
           a.acquirer_reference, c.state = 'failed' AS is_undone
      FROM captures c JOIN attempts a ON a.attempt_id = c.attempt_id
     WHERE ${filter(`'capture'`, 'c.attempt_id', 'a.started_at')}
    UNION ALL
    SELECT 'captureReversal', c.attempt_id, c.attempt_id, c.ended_at, c.amount, c.ended_at, a.acquirer_reference, true
      FROM captures c JOIN attempts a ON a.attempt_id = c.attempt_id
     WHERE c.state = 'failed' AND ${filter(`'captureReversal'`, 'c.attempt_id', 'c.ended_at')}
    UNION ALL
    SELECT 'refund', r.refund_id, r.attempt_id, r.ended_at, r.amount, r.ended_at, r.acquirer_reference, r.returned_at IS NOT NULL
      FROM refunds r
     WHERE (r.state = 'succeeded' OR r.returned_at IS NOT NULL) AND ${filter(`'refund'`, 'r.refund_id', 'r.ended_at')}
    UNION ALL
    SELECT 'refundReturn', r.refund_id, r.attempt_id, r.returned_at, r.amount, r.returned_at, r.acquirer_reference, true
      FROM refunds r
     WHERE r.returned_at IS NOT NULL AND ${filter(`'refundReturn'`, 'r.refund_id', 'r.returned_at')}
    UNION ALL
    SELECT CASE r.kind WHEN 'reversed' THEN 'disputeReversal' ELSE 'dispute' END, r.report_id, d.attempt_id, r.booked_at, r.amount,
           r.booked_at, d.acquirer_reference, false
      FROM dispute_reports r JOIN disputes d ON d.dispute_id = r.dispute_id
     WHERE r.booked_at IS NOT NULL AND ${filter(`CASE r.kind WHEN 'reversed' THEN 'disputeReversal' ELSE 'dispute' END`, 'r.report_id', 'r.booked_at')}`;
}

/** SQL: the movements whose time is in the range `$1` to `$2`. */
export const OWN_MOVEMENTS_OF_RANGE = ownMovements((_kinds, _id, at) => `${at} >= $1 AND ${at} < $2`);

/** SQL: the movement of the settlement line `l`; no row if there is none. */
export const OWN_MOVEMENT_OF_LINE = ownMovements((kinds, id) => `${id} = l.movement_id AND ${kinds} = l.kind`);

/** SQL: the cents of the settlement line `l` as the ledger writes them, positive if the line has the direction of its kind. */
export const LINE_AMOUNT = `CASE WHEN l.kind IN ('capture', 'refundReturn', 'disputeReversal') THEN l.gross_amount ELSE -l.gross_amount END`;

/** SQL list: the kinds of lines that are compared with movements. */
export const MOVEMENT_KINDS = `('capture', 'captureReversal', 'refund', 'refundReturn', 'dispute', 'disputeReversal')`;

/**
 * SQL interval. A movement that no settlement report contains after this time is a difference. Adyen settles two working
 * days after the capture by default, and closes a batch on each working day. A long weekend, such as Easter with four
 * days without settlement, fits into it.
 */
export const SETTLEMENT_DEADLINE = `interval '7 days'`;

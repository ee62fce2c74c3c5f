import {
  LINE_AMOUNT,
  MOVEMENT_KINDS,
  OWN_MOVEMENT_OF_LINE,
  OWN_MOVEMENTS_OF_RANGE,
  SETTLEMENT_DEADLINE,
} from '../../settlement-reports/own-movements.query.js';

/**
 * The statements for the book `acquirer`: the expected and the stored lines of the acquirer's statement. `at` is the
 * start of the attempt for a charge, the time of the confirmation for a reversal or refund, and the time of the booking
 * for a dispute. The date on the acquirer's statement may be another day, so StatementRepository replaces that date by
 * `at`. Only a line without an attempt, a refund or a report of a dispute keeps the acquirer's date.
 *
 * An acquirer with settlement reports has no statement of a day. Its lines are stored when a report arrives, days after
 * the movement, so a movement without a line is open until {@link SETTLEMENT_DEADLINE} has passed. A line without a
 * movement has the time at which it was stored.
 */
const LINE = `jsonb_build_object('kind', kind, 'acquirer', acquirer, 'account', account, 'paymentReference', payment_reference,
    'acquirerReference', acquirer_reference, 'amount', amount, 'currency', currency)`;

/**
 * The third parameter is the watermark, the fourth the names of the acquirers with settlement reports. The charged amount excludes the amount that vouchers cover. The time `at` is
 * NULL while a charge has no outcome.
 */
const MOVEMENTS = `
  SELECT y.mode, y.merchant_id, y.currency, p.payment_reference, a.acquirer, a.account, a.attempt_id::text AS idempotency_key, moved.kind,
         p.amount - p.voucher_amount + p.tip_amount AS amount,
         CASE WHEN a.state = 'approved' THEN a.acquirer_reference END AS acquirer_reference,
         moved.at IS NULL OR moved.at >= $3::timestamptz AS open
    FROM (SELECT 'charge' AS kind, attempt_id, ended_at AS at FROM attempts a
           WHERE started_at >= $1 AND started_at < $2
             AND (state IN ('approved', 'reversed', 'started', 'unknown', 'reversing')
                  OR EXISTS (SELECT FROM reversals late WHERE late.attempt_id = a.attempt_id AND late.holds_money))
          UNION ALL
          SELECT 'reversal', attempt_id, confirmed_at FROM reversals WHERE holds_money AND found_charge AND confirmed_at >= $1 AND confirmed_at < $2
          UNION ALL
          SELECT 'reversal', attempt_id, ended_at FROM attempts a
           WHERE state = 'reversed' AND ended_at >= $1 AND ended_at < $2
             AND NOT EXISTS (SELECT FROM reversals late WHERE late.attempt_id = a.attempt_id)) AS moved
    JOIN attempts a ON a.attempt_id = moved.attempt_id
    JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
   WHERE a.acquirer <> ALL ($4::text[])
  UNION ALL
  SELECT f.mode, f.merchant_id, f.currency, f.payment_reference, f.acquirer, f.account, f.charge_id::text, moved.kind, f.amount, NULL,
         moved.at >= $3
    FROM (SELECT 'charge' AS kind, charge_id, found_at AS at FROM forgotten_charges WHERE found_at >= $1 AND found_at < $2
          UNION ALL
          SELECT 'reversal', charge_id, reversed_at FROM forgotten_charges WHERE reversed_at >= $1 AND reversed_at < $2) AS moved
    JOIN forgotten_charges f ON f.charge_id = moved.charge_id
  UNION ALL
  SELECT y.mode, y.merchant_id, y.currency, p.payment_reference, a.acquirer, a.account, r.refund_id::text, 'refund', r.amount, r.acquirer_reference,
         r.ended_at >= $3
    FROM refunds r JOIN attempts a ON a.attempt_id = r.attempt_id
    JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
   WHERE r.ended_at >= $1 AND r.ended_at < $2 AND r.state = 'succeeded' AND a.acquirer <> ALL ($4)
  UNION ALL
  SELECT y.mode, y.merchant_id, y.currency, p.payment_reference, a.acquirer, a.account, r.report_reference,
         CASE r.kind WHEN 'reversed' THEN 'disputeReversal' ELSE 'dispute' END, r.amount, d.acquirer_reference, r.booked_at >= $3
    FROM dispute_reports r JOIN disputes d ON d.dispute_id = r.dispute_id JOIN attempts a ON a.attempt_id = d.attempt_id
    JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
   WHERE r.booked_at >= $1 AND r.booked_at < $2 AND a.acquirer <> ALL ($4)
  UNION ALL
  SELECT y.mode, y.merchant_id, y.currency, p.payment_reference, a.acquirer, a.account, own.movement_id::text, own.kind, own.amount,
         own.acquirer_reference,
         own.ended_at IS NULL OR own.ended_at >= $3 OR (NOT line.is_settled AND own.ended_at >= $3 - ${SETTLEMENT_DEADLINE})
    FROM (${OWN_MOVEMENTS_OF_RANGE}) AS own
    JOIN attempts a ON a.attempt_id = own.attempt_id
    JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
   CROSS JOIN LATERAL (
     SELECT EXISTS (SELECT FROM settlement_lines l WHERE l.movement_id = own.movement_id AND l.kind = own.kind) AS is_settled,
            EXISTS (SELECT FROM settlement_lines l WHERE l.movement_id = own.movement_id) AS has_line) AS line
   WHERE a.acquirer = ANY ($4) AND (line.has_line OR NOT own.is_undone)`;

export const EXPECTED_STATEMENT = `
  SELECT mode, merchant_id, payment_reference || ' ' || kind || ' ' || idempotency_key AS key, amount, open,
         CASE WHEN NOT open THEN ${LINE} END AS line
    FROM (${MOVEMENTS}) AS movement`;

const SETTLEMENT_LINE = `
  l.mode, l.merchant_id, l.payment_reference, l.kind, ${LINE_AMOUNT} AS amount, l.currency, l.acquirer, l.account, l.acquirer_reference,
  coalesce(l.movement_id::text, l.account || ' batch ' || l.batch || ' line ' || l.line_number) AS idempotency_key`;

/** The third parameter is the id of the run that has stored the lines of days, the fourth is the watermark. */
export const STATEMENT_BOOK = `
  SELECT mode, merchant_id, concat_ws(' ', payment_reference, kind, idempotency_key) AS key, amount, open,
         CASE WHEN NOT open THEN ${LINE} END AS line
    FROM (
      SELECT mode, merchant_id, payment_reference, kind, amount, currency, acquirer, account, acquirer_reference, idempotency_key, open
        FROM statement_lines WHERE run_id = $3::uuid AND at >= $1 AND at < $2
      UNION ALL
      SELECT ${SETTLEMENT_LINE}, own.ended_at IS NULL OR own.ended_at >= $4::timestamptz AS open
        FROM (${OWN_MOVEMENTS_OF_RANGE}) AS own JOIN settlement_lines l ON l.movement_id = own.movement_id AND l.kind = own.kind
      UNION ALL
      SELECT ${SETTLEMENT_LINE},
             l.stored_at >= $4 OR EXISTS (SELECT FROM refunds r WHERE r.refund_id = l.movement_id AND r.state = 'pending')
        FROM settlement_lines l
       WHERE l.stored_at >= $1 AND l.stored_at < $2 AND l.kind IN ${MOVEMENT_KINDS} AND NOT EXISTS (${OWN_MOVEMENT_OF_LINE})) AS found`;
